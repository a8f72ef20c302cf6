// SPDX-License-Identifier: BSD-3-Clause
// Armadillo's single-precision products and a least-squares solution, printed to the last bit.
#include <armadillo>
#include <cstdio>

static void show(const char *name, const arma::fmat &x)
{
	double sum = 0, turned = 0;

	for (arma::uword i = 0; i < x.n_elem; i++) {
		sum += x[i];
		turned = -turned * 0.999 + x[i];
	}
	std::printf("%s %u %u %a %a\n", name, static_cast<unsigned>(x.n_rows),
		    static_cast<unsigned>(x.n_cols), sum, turned);
}

int main()
{
	arma::arma_rng::set_seed(12);
	const arma::fmat a = arma::randn<arma::fmat>(300, 200), b = arma::randn<arma::fmat>(200, 150);
	const arma::fmat c = arma::randn<arma::fmat>(300, 150);

	show("a * b", a * b);
	show("a.t() * c", a.t() * c);
	show("b.t() * a.t()", b.t() * a.t());
	show("2 * a * b + c", 2.0F * a * b + c);
	show("solve", arma::solve(a, c));
	return 0;
}
