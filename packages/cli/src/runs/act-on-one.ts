import { BelayError, type RunSummary } from '@belay/workflow'
import type { Call } from '../call.ts'
import { type CliError, refused } from '../cli-error.ts'
import type { ExitStatus } from '../exit-status.ts'
import type { Store } from '../store/store.ts'
import { safe } from '../terminal/text.ts'
import type { ActionOnRun, Change } from './action.ts'
import { actorOf } from './actor.ts'
import { commandFor } from './commands.ts'
import { nameOf, runNamed } from './names.ts'

/** Acts on one run and tells what has changed. Throws a `CliError` with the commands that lead on if the engine refuses. */
export async function actOnOne(call: Call, name: string, action: ActionOnRun): Promise<ExitStatus> {
  const store = await call.connect()
  const found = await runNamed(store, name)
  const { reason } = call.flags
  const by = { by: actorOf(call), ...(reason === undefined ? {} : { reason }) }
  const change = await orCommands(store, found, () =>
    action.one(store.engine.runs.handle(found.id), { store, found, by }),
  )
  tell(call, { found, change, by: by.by, isFollowed: action.isFollowed === true })
  return 0
}

function tell(
  { out }: Call,
  told: {
    readonly found: RunSummary
    readonly change: Change | null
    readonly by: string
    readonly isFollowed: boolean
  },
): void {
  const { found, change, by, isFollowed } = told
  if (out.json) return out.document({ runId: found.id, changed: change !== null, ...change, by })
  const name = nameOf(found)
  if (change === null) return out.line(`${name} is ${found.status}: there was nothing to change.`)
  const { step, from, to, next = [] } = change
  const arrow = out.isAscii ? '->' : '→'
  const became = from === to ? to : out.plain ? `${from}, now ${to}` : `${from} ${arrow} ${to}`
  const after = next.length === 0 ? '' : `. Next: ${next.map(safe).join(', ')}`
  out.line(`${safe(step ?? name)}: ${became}, as ${safe(by)}${after}`)
  if (isFollowed && next.length === 0) out.note(`Follow: belay watch ${name}`)
}

/** Does something to a run; a refusal names the commands that lead on. */
export async function orCommands<Done>(
  store: Store,
  run: RunSummary,
  does: () => Promise<Done>,
): Promise<Done> {
  try {
    return await does()
  } catch (error) {
    if (!BelayError.is(error) || !REFUSALS.has(error.code)) throw error
    throw await withCommands(store, run, error)
  }
}

const REFUSALS: ReadonlySet<string> = new Set(['action_refused', 'decision_conflict'])
const COMMANDS_MAX = 4

async function withCommands(store: Store, run: RunSummary, error: BelayError): Promise<CliError> {
  const { message, insteadOn, step } = error
  if (insteadOn !== undefined) {
    return refused(message, safe(commandFor({ verb: 'retry', run: insteadOn }, run) ?? ''))
  }
  const { steps, status } = await store.engine.explain(run.id)
  const commands = steps
    .filter((each) => step === undefined || each.step === step)
    .flatMap(({ actions }) => actions)
    .map((action) => commandFor(action, run))
    .filter((command) => command !== undefined)
  const looks = `${ENDED.has(status) ? 'show' : 'explain'} ${nameOf(run)}`
  const offered = [...new Set(commands)].slice(0, COMMANDS_MAX)
  return refused(message, ...(offered.length === 0 ? [looks] : offered.map(safe)))
}

const ENDED: ReadonlySet<string> = new Set(['completed', 'failed', 'compensated', 'cancelled'])
