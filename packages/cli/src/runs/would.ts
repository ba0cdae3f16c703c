import type { RunSnapshot } from '@belay/workflow'
import type { Call } from '../call.ts'
import { refused } from '../cli-error.ts'
import type { ExitStatus } from '../exit-status.ts'
import type { Store } from '../store/store.ts'
import { safe } from '../terminal/text.ts'
import { runWithoutItems, stepNamed } from './items.ts'
import { nameOf, runNamed } from './names.ts'
import { assertChecked } from './sent.ts'
import { jsonOf, typedCommand } from './typed.ts'

/**
 * Stands in for a verb without a dry run of its own: checks what the call names and says what it would do. It only reads. Throws a `CliError` for a
 * run, step, workflow, limit or schedule that is not there, and for a payload that would be refused.
 */
export async function run(call: Call): Promise<ExitStatus> {
  const { args, flags, out } = call
  for (const name of ['data', 'input', 'output'] as const) jsonOf(name, flags[name])
  const store = await call.connect()
  await assertNames(store, args)
  const found = args['run'] === undefined ? undefined : await runAndStep(store, call)
  const { json: _, 'dry-run': __, ...given } = flags
  const would = typedCommand({ ...call, flags: given })
  if (out.json) out.document({ dryRun: true, would, ...found })
  else out.line(`Dry run: nothing was changed. It would do: belay ${would}`)
  if (found !== undefined) out.note(stands(found))
  return 0
}

async function assertNames({ engine }: Store, args: Call['args']): Promise<void> {
  const { limit, schedule, workflow } = args
  if (workflow !== undefined) await engine.workflows.get(workflow)
  if (limit !== undefined && (await engine.limits.get(limit)) === undefined) {
    throw refused(`No worker has declared a limit "${safe(limit)}".`, 'limits')
  }
  if (schedule !== undefined && (await engine.schedules.get(schedule)) === undefined) {
    throw refused(`There is no schedule "${safe(schedule)}".`, 'schedules list')
  }
}

interface Found {
  readonly run: Pick<RunSnapshot, 'id' | 'key' | 'workflow' | 'version' | 'status'>
  readonly step?: { readonly name: string; readonly status: string }
}

async function runAndStep(store: Store, { args, rest, flags }: Call): Promise<Found> {
  const summary = await runNamed(store, args['run']!)
  const { id, key, workflow, version, status } = summary
  if (flags.data !== undefined && flags.unchecked !== true) assertChecked(store, summary)
  const run = { id, key, workflow, version, status }
  const name = args['step'] ?? rest[0]
  if (name === undefined) return { run }
  const whole = await runWithoutItems(store, id)
  if (whole === undefined) throw refused(`Run ${id} is not in the store any more.`, 'list')
  const step = await stepNamed(store, whole, name)
  if (step !== undefined) return { run, step: { name, status: step.status } }
  const known = whole.steps.flatMap((each) => (each.itemKey === undefined ? safe(each.name) : []))
  throw refused(`${nameOf(summary)} has no step "${safe(name)}". Its steps are ${known.join(', ')}.`)
}

function stands({ run, step }: Found): string {
  const name = nameOf(run)
  return step === undefined
    ? `${name} is ${run.status}.`
    : `${safe(step.name)} of ${name} is ${step.status}, and the run ${run.status}.`
}
