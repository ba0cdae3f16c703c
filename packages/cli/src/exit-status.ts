/** 0: done. 1: refused, unhealthy, no such run, or the run did not complete. 2: wrong use; nothing was done. 3: the store cannot be reached or used. */
export type ExitStatus = 0 | 1 | 2 | 3
