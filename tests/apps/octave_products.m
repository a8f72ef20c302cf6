% SPDX-License-Identifier: BSD-3-Clause
% Octave in single precision: products of every transposition, a fit and a small network; prints
% digests.
function show (name, x)
  printf ("%s %dx%d %s %s\n", name, rows (x), columns (x), class (x),
          hash ("sha256", char (typecast (x(:)', "uint8")))(1:16));
end

function x = pick (m, n, seed)
  x = reshape (single (mod ((1:m * n) * seed, 1009)) / 1009 - 0.5, m, n);
end

printf ("Octave %s\n", version ());
a = pick (300, 257, 7919);
b = pick (257, 311, 104729);
show ("a b", a * b);
show ("a' b", pick (257, 300, 31) .' * b);
show ("a b'", a * pick (311, 257, 37)');
show ("a' b'", pick (257, 300, 41)' * pick (311, 257, 43)');
show ("a a'", a * a');
show ("a v", a * b(:, 1));
show ("part", a(11:200, 3:250) * b(3:250, 5:99));
show ("with a NaN", [a(:, 1:256), nan(300, 1, "single")] * b);
show ("mixed with double", a * double (b));
show ("fit", (a' * a + 10 * eye (257, "single")) \ (a' * a(:, 1:20)));
layer = pick (300, 400, 53);
for l = 1:4
  layer = max (layer * pick (400, 400, 59 + l), 0) / 10;
end
show ("network", layer);
