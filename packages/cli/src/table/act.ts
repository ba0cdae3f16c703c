import type { Verb } from './verb.ts'

export const ACT: readonly Verb[] = []
