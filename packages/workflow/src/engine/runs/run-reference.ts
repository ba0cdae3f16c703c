import type { Adapter, FoundRun } from '../../adapter/index.ts'
import type { OutputsOf, ReceivesAnything, ReceivesOf, WorkflowDefinition } from '../../definition/index.ts'
import { BelayError } from '../../errors.ts'
import { checkArgument, id, type Kind, key, name, Refusal } from '../../options/index.ts'
import { shown } from '../../shown.ts'
import { isDefinition } from '../base/definition-argument.ts'

/**
 * Names a run: by its id; by an object with an `id`, like a handle, a snapshot or a row of a list; or by workflow and key. The workflow is a name
 * or a definition; a definition adds types.
 */
export type RunReference =
  | string
  | { readonly id: string }
  | { readonly workflow: WorkflowDefinition | string; readonly key: string }

/** The types of a referenced run's outputs, if the reference knows them. */
export type OutputsAt<Reference> = Reference extends { readonly workflow: infer W extends WorkflowDefinition }
  ? OutputsOf<W>
  : TypesOf<Reference> extends { readonly outputs: infer Outputs }
    ? Outputs
    : Readonly<Record<string, unknown>>

/** The types of what a referenced run can be sent, if the reference knows them. */
export type SentTo<Reference> = Reference extends { readonly workflow: infer W extends WorkflowDefinition }
  ? ReceivesOf<W>
  : TypesOf<Reference> extends { readonly receives: infer Sent }
    ? Sent
    : ReceivesAnything

type TypesOf<Reference> = Reference extends { readonly '~types'?: infer Types } ? NonNullable<Types> : unknown

/** A reference in the form for the store. An id with a workflow matches only a run of that workflow. */
export type RunLookup =
  | { readonly runId: string; readonly workflow?: string | undefined }
  | { readonly workflow: string; readonly key: string }

/** Reads a reference. `call` names the called function in errors. Throws `invalid_option` for an invalid reference. */
export function runLookup(call: string, run: RunReference): RunLookup {
  const known = typeof run === 'object' && run !== null ? lookupsOfHandles.get(run) : undefined
  if (known !== undefined) return known
  const named = checkArgument(call, 'the run', run, REFERENCE)
  if ('runId' in named) return named
  const runKey = checkArgument(call, 'the key of the run', named.key, key)
  return { workflow: workflowName(call, named.workflow), key: runKey }
}

const RUN_ID = id('run')

/** An id, or an object whose properties together name a run. */
const REFERENCE: Kind<
  { readonly runId: string } | { readonly workflow: WorkflowDefinition | string; readonly key: unknown }
> = {
  words: 'a run id, an object with the id as `id` (a handle, a snapshot), or { workflow, key }',
  read(given) {
    const named = given as { readonly id?: unknown; readonly workflow: string; readonly key?: unknown }
    if (typeof given === 'object' && named.id === undefined && 'workflow' in named && 'key' in named) {
      return { workflow: named.workflow, key: named.key }
    }
    const runId = RUN_ID.read(typeof given === 'string' ? given : named.id)
    if (!Refusal.is(runId)) return { runId: runId.toLowerCase() }
    return typeof given === 'object' ? runId : new Refusal(shown(given))
  },
}

/**
 * The references of handles that must look their run up. Once bound to a run, a handle stays with it, even if the key later moves to another run.
 */
export const lookupsOfHandles = new WeakMap<object, RunLookup>()

/** The name of a workflow, given its definition or its name. Throws `invalid_option`. */
export function workflowName(call: string, workflow: WorkflowDefinition | string): string {
  return checkArgument(call, 'the workflow', workflow, WORKFLOW_NAME)
}

const WORKFLOW_NAME: Kind<string> = {
  words: `a definition, or the name of one: ${name.words}`,
  read: (given) => name.read(isDefinition(given) ? given.name : given),
}

/** Finds a run by its reference. Throws `unknown_run`. */
export async function findRun(adapter: Adapter, lookup: RunLookup, tx?: unknown): Promise<FoundRun> {
  // Within a transaction the adapter opens itself, as for runs that are started in one.
  if (tx === undefined) await adapter.open()
  const found = await adapter.findRun('runId' in lookup ? { runId: lookup.runId } : lookup, { tx })
  if (found === null) throw unknownRun(lookup)
  if (isNamedBy(lookup, found)) return found
  throw new BelayError(
    'unknown_run',
    `There is no run ${found.runId} of workflow "${lookup.workflow}": that run is one of "${found.workflow}".`,
    { runId: found.runId },
  )
}

/** Tells whether a run that was found by id belongs to the workflow in its reference. */
export function isNamedBy(lookup: RunLookup, { workflow }: Pick<FoundRun, 'workflow'>): boolean {
  return lookup.workflow === undefined || lookup.workflow === workflow
}

/** The error for a run that does not exist. */
export function unknownRun(lookup: RunLookup): BelayError {
  if ('runId' in lookup) {
    const { runId } = lookup
    return new BelayError(
      'unknown_run',
      `There is no run ${runId}: it was pruned, it was never started, or the transaction that started it was not committed. A store that lost its last commits in a failover does not have it either.`,
      { runId },
    )
  }
  return new BelayError(
    'unknown_run',
    `There is no run of workflow ${shown(lookup.workflow)} with key ${shown(lookup.key)}: it was never started, it was pruned, its key was released, or the transaction that started it was not committed.`,
  )
}

/** The error for a run that this process has seen in the store, going on, and that is not there any more. */
export function lostRun(runId: string): BelayError {
  return new BelayError(
    'run_lost',
    `Run ${runId} is not in the store any more, although this process has seen it there: the store has lost its last commits, as after a failover to a standby that had not received them, or the run ended and was deleted at once.`,
    {
      runId,
      remedy:
        "If it is lost, start it again, with the same key; effects of its steps in other systems remain, and the steps' idempotency keys will be others.",
    },
  )
}

/** Tells whether a string can be the id of a run: a UUID. PostgreSQL would throw for anything else. */
export function isRunId(given: string): boolean {
  return !Refusal.is(RUN_ID.read(given))
}
