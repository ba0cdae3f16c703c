import { sendApart } from './send-apart.ts'

/** Changes ended runs. One that the store refuses to change is named, and keeps no others. Resolves to the number of changed runs. */
export async function countApart(
  runIds: readonly string[],
  change: (runIds: readonly string[]) => Promise<readonly string[]>,
  onRefused: (runId: string, error: unknown) => void,
): Promise<number> {
  let changed = 0
  await sendApart(runIds, {
    send: async (part) => {
      changed += (await change(part)).length
    },
    refused: onRefused,
    heldUp: () => {},
    unanswered: (_, error) => {
      throw error
    },
  })
  return changed
}
