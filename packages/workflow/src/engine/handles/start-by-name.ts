import type { SavedDefinition } from '../../adapter/index.ts'
import { VERSION_MAX } from '../../definition/compile.ts'
import type { WorkflowDefinition } from '../../definition/workflow.ts'
import { BelayError } from '../../errors.ts'
import { didYouMean } from '../../graph/index.ts'
import { checkOptions, type OptionTable, wholeNumber } from '../../options/index.ts'
import { shown } from '../../shown.ts'
import { workflowName } from '../runs/run-reference.ts'
import { RUN_OPTIONS } from '../start/checked-run.ts'
import { newestStored } from '../start/newest-stored.ts'
import type { RunOptions } from '../start/run-options.ts'
import { type StartedHandle, type StartRunParts, startRun, startUnchecked } from '../start/start-run.ts'
import type { RunHandle } from './run-handle.ts'

const RUN_BY_NAME_OPTIONS = {
  ...RUN_OPTIONS,
  version: { sets: 'the version that the run follows', takes: wholeNumber(1, VERSION_MAX) },
} satisfies OptionTable

/** Options of a run that is started by the name of its workflow. */
export interface RunByNameOptions extends RunOptions {
  /** Default: the highest version among the engine's `workflows`; if none has the name, the highest stored version. */
  readonly version?: number | undefined
}

/** A handle on a run that was started by the name of its workflow. */
export interface NamedRunHandle extends RunHandle {
  /**
   * False when this process does not have the definition: the input was stored unchecked, and the run has a deadline only if its options set one.
   */
  readonly checked: boolean
}

/** Starts a run by the name of its workflow: with the definition if this process has it, else with what the store has of it. */
export async function startRunByName(
  parts: StartRunParts,
  name: string,
  input: unknown,
  given: RunByNameOptions,
): Promise<StartedHandle & { readonly checked: boolean }> {
  const { version, tx } = checkOptions('run()', given, RUN_BY_NAME_OPTIONS)
  const { version: _, ...options } = given
  const known = await findWorkflow(parts, name, version, tx)
  if (known.workflow !== undefined) {
    return { ...(await startRun(parts, known.workflow, input, options)), checked: true }
  }
  return { ...(await startUnchecked(parts, known.stored, input, options)), checked: false }
}

type KnownWorkflow =
  | { readonly workflow: WorkflowDefinition }
  | { readonly workflow: undefined; readonly stored: SavedDefinition }

/** Finds a workflow among this engine's `workflows`, else in the store. Throws `unknown_workflow`, `invalid_option`. */
async function findWorkflow(
  { adapter, registry, settings }: StartRunParts,
  given: string,
  version: number | undefined,
  tx: unknown,
): Promise<KnownWorkflow> {
  const name = workflowName('run()', given)
  const [workflow] = settings.workflows
    .filter((candidate) => candidate.name === name && (version ?? candidate.version) === candidate.version)
    .sort((one, other) => other.version - one.version)
  if (workflow !== undefined) return { workflow }
  if (tx === undefined) await adapter.open()
  const stored =
    version === undefined
      ? await newestStored(adapter, name, tx)
      : await adapter.findDefinition({ name, version }, { tx })
  if (stored === null) {
    // Within a transaction nothing may wait for another connection.
    const workers = tx === undefined ? await adapter.listWorkers() : []
    const known = [...settings.workflows, ...workers.flatMap(({ workflows }) => workflows ?? [])]
    throw unknownWorkflow(name, version, known)
  }
  const started = registry.knownAs(stored)
  return started === undefined ? { workflow: undefined, stored } : { workflow: started }
}

function unknownWorkflow(
  name: string,
  version: number | undefined,
  known: readonly { readonly name: string; readonly version: number }[],
): BelayError {
  const what =
    version === undefined ? `workflow ${shown(name)}` : `version ${version} of workflow ${shown(name)}`
  const others = [...new Set(known.filter((one) => one.name === name).map((one) => one.version))]
  const near =
    others.length === 0
      ? didYouMean(name, new Set(known.map((one) => one.name)))
      : ` There is version ${others.sort((one, other) => one - other).join(', ')}.`
  return new BelayError(
    'unknown_workflow',
    `run(): there is no ${what} in this engine's \`workflows\`, and none is stored.${near}`,
    {
      remedy:
        'Start an engine that has the definition, or start a run with the definition itself: either stores it.',
    },
  )
}
