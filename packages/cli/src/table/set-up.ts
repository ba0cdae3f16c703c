import type { Verb } from './verb.ts'

export const SET_UP: readonly Verb[] = []
