import type { BulkOptions, BulkResult, RunsToChange } from '@belay/workflow'
import type { Call } from '../call.ts'
import { misused, refused } from '../cli-error.ts'
import type { ExitStatus } from '../exit-status.ts'
import type { Store } from '../store/store.ts'
import { canAsk, confirmCount } from '../terminal/ask.ts'
import { progressOf } from '../terminal/progress.ts'
import { safe } from '../terminal/text.ts'
import type { ActionOnRuns, Aim } from './action.ts'
import { actorOf } from './actor.ts'
import { linesOfDryRun, linesOfRefusals } from './bulk-lines.ts'
import { filterOf } from './filter.ts'
import { idsFrom } from './ids.ts'
import { runNamed } from './names.ts'
import { typedCommand } from './typed.ts'

/** Acts on many runs: a dry run, the number to be typed, then exactly the runs of the dry run. */
export async function actOnMany(call: Call, aim: Aim, action: ActionOnRuns): Promise<ExitStatus> {
  const { flags, out, signal } = call
  const isDry = flags['dry-run'] === true
  if (!isDry && flags.yes !== true && !canAsk(call)) {
    throw misused('Nobody can be asked here: --yes does it without asking.', typedCommand(call, '--dry-run'))
  }
  const store = await call.connect()
  const runs = await runsOf(call, { store, aim, action })
  const dry = await action.many(store, runs, { dryRun: true, signal, ...limitOf(call, runs) })
  if (signal.aborted) throw refused('Stopped. Nothing was done.')
  const lines = await linesOfDryRun(call, { store, dry, action, runs })
  if (isDry && out.json) out.document(dry)
  // A pipe gets the ids, for `belay retry -`.
  else if (isDry && !out.isTerminal) for (const id of dry.runIds) out.line(id)
  const say = isDry && out.isTerminal && !out.json ? out.line.bind(out) : out.note.bind(out)
  for (const line of lines) say(line)
  // Nobody is asked about nothing.
  const asks = isDry || dry.changed === 0 ? { ...call, flags: { ...flags, yes: true } } : call
  await confirmCount(asks, dry.changed, `${action.them}, as ${safe(actorOf(call))}`)
  if (!isDry && dry.changed > 0) return change(call, { store, dry, action })
  if (!isDry && out.json) out.document(dry)
  return dry.changed === 0 && hasRefused(dry) ? 1 : 0
}

async function runsOf(
  call: Call,
  { store, aim, action }: { readonly store: Store; readonly aim: Aim; readonly action: ActionOnRuns },
): Promise<RunsToChange> {
  if ('run' in aim) return [(await runNamed(store, aim.run)).id]
  if ('runs' in aim) return Promise.all(aim.runs.map(async (name) => (await runNamed(store, name)).id))
  if (aim.from === 'stdin') return idsFrom(call)
  return filterOf(store, call.flags, { byEnd: action.byEnd === true })
}

/** A list is taken whole. */
function limitOf({ flags: { limit } }: Call, runs: RunsToChange): Pick<BulkOptions, 'limit'> {
  return limit === undefined || Array.isArray(runs) ? {} : { limit }
}

async function change(
  call: Call,
  { store, dry, action }: { readonly store: Store; readonly dry: BulkResult; readonly action: ActionOnRuns },
): Promise<ExitStatus> {
  const { flags, out, signal } = call
  const bar = progressOf(call, dry.changed)
  const result = await action.many(store, dry.runIds, {
    by: actorOf(call),
    ...(flags.reason === undefined ? {} : { reason: flags.reason }),
    signal,
    onProgress: ({ matched }) => bar.show(matched),
  })
  bar.end()
  for (const line of linesOfRefusals(call, result)) out.note(line)
  const left = dry.changed - result.matched - result.unknown.length
  const isStopped = result.more && left > 0
  if (out.json) out.document(result)
  else {
    const rest = isStopped ? ` Stopped: ${left} ${left === 1 ? 'is' : 'are'} as before.` : ''
    out.line(`${result.changed} ${action.done}, ${result.refused.length} refused.${rest}`)
    if (action.isFollowed && result.changed > 0) out.note('Follow: belay watch --all')
  }
  return isStopped || hasRefused(result) ? 1 : 0
}

function hasRefused({ refused: some, unknown }: BulkResult): boolean {
  return some.length + unknown.length > 0
}
