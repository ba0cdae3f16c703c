import type { Claim, NewValue } from '@belay/workflow/adapter'
import type { CaseRun } from './run.ts'

/** More keys than a run of most cases has. */
export const KEYS_MAX = 3

/** A value that a claim's attempt gives. */
export function told(
  { runId, step, fence }: Claim,
  key: string | null,
  value: string,
  more: Partial<NewValue> = {},
): NewValue {
  return { runId, step, fence, key, value, sequence: 1, ageMs: 0, ...more }
}

/** The values of a run, one line each. */
export async function toldBy(run: CaseRun): Promise<readonly string[]> {
  const { values } = await run.read()
  return values.map(({ key, name, value }) => `${key ?? 'progress'} of ${name}: ${value}`)
}
