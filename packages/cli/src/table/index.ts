import { ACT } from './act.ts'
import { OPERATE } from './operate.ts'
import { SEE } from './see.ts'
import { SET_UP } from './set-up.ts'
import type { Verb } from './verb.ts'

/** Every verb, in the order in which help shows them. */
export const VERBS: readonly Verb[] = [...SEE, ...ACT, ...OPERATE, ...SET_UP]
