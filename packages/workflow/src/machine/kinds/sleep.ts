import { waitFor } from '../life.ts'
import { complete } from '../outcomes.ts'
import type { Kind } from '../state.ts'

/** It waits until an instant, which its owner tells when it opens. */
export const sleep: Kind = {
  name: 'sleep',
  asks: 'open',
  begin: (run, u, answer) => waitFor(run, u, answer?.due ?? run.now),
  due: (run, u) => complete(run, u, { output: null }),
}
