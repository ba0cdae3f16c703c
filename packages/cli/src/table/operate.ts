import type { Verb } from './verb.ts'

export const OPERATE: readonly Verb[] = []
