import { participleOf } from '@belay/graph-view'
import type { Call } from '../call.ts'
import { misused } from '../cli-error.ts'
import type { ExitStatus } from '../exit-status.ts'
import { act, aimed } from '../runs/act.ts'

/** `belay priority`. */
export async function run(call: Call): Promise<ExitStatus> {
  const { aim, operand } = aimed(call, 'n')
  if (operand === undefined) throw misused('N is missing: the priority, from 0 to 1,000.')
  if (!/^\d+$/.test(operand)) throw misused(`A priority is a whole number from 0 to 1,000, got "${operand}".`)
  const priority = Number(operand)
  return act(call, aim, {
    them: `give them priority ${priority}`,
    done: participleOf({ verb: 'setPriority', priority }),
    selects: ['scheduled', 'running', 'waiting', 'paused'],
    one: async (run, { found, by }) =>
      (await run.setPriority(priority, by))
        ? { from: `priority ${found.priority}`, to: String(priority) }
        : null,
    many: ({ engine }, runs, options) => engine.runs.setPriorityMany(runs, priority, options),
  })
}
