/* Reports under local differential privacy, of exact law: see README.md. */
#ifndef @guard@_H
#define @guard@_H

@includes@

enum { @guard@_OK = 0, @guard@_BAD_INPUT = 1, @guard@_NO_RANDOMNESS = 2 };

@functions@
#endif
