import type { Dump } from './dump.ts'

export type * from './dump.ts'

export function checkInvariants(_: Dump): readonly string[] {
  return []
}
