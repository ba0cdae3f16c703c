import {
  type Adapter,
  type FoundRun,
  factsOfKind,
  type RunRecord,
  STEP_KINDS,
  type StepShape,
} from '../../adapter/index.ts'
import type { SignalWait } from '../../definition/wait.ts'
import { BelayError } from '../../errors.ts'
import { didYouMean } from '../../graph/index.ts'
import { listed } from '../../graph/place.ts'
import { shown } from '../../shown.ts'
import type { DefinitionRegistry } from '../base/definition-registry.ts'

/** A step as this process's definition or the store's record describes it. */
export interface KnownStep {
  readonly name: string
  readonly number: number
  readonly wait: { readonly kind: StepShape['kind']; readonly schema?: SignalWait['schema'] } | null
}

/** What a signal asks of a step. */
export interface Wanted {
  readonly name: string
  readonly kind: SignalWait['kind']
}

/** An error `invalid_option` that lists the steps that accept such a signal. `elsewhere` ends it. */
export function notReceiving(
  run: FoundRun,
  steps: readonly KnownStep[],
  { name, kind }: Wanted,
  elsewhere: string,
): BelayError {
  const step = steps.find((candidate) => candidate.name === name)
  const names = steps.filter(({ wait }) => wait?.kind === kind).map((candidate) => candidate.name)
  const { what } = STEP_KINDS[kind].signal
  const known = names.length === 0 ? `None of its steps waits for ${what}.` : `These do: ${listed(names)}.`
  return new BelayError(
    'invalid_option',
    `Workflow "${run.workflow}" version ${run.version} ${mismatch(step, name, what)}${didYouMean(name, names)} ${known}${elsewhere}`,
    { runId: run.runId, step: name },
  )
}

function mismatch(step: KnownStep | undefined, name: string, what: string): string {
  if (step === undefined) return `has no step ${shown(name)}.`
  const own = factsOfKind(step.wait?.kind)?.signal
  return own === undefined
    ? `has a step "${name}" that does not wait for ${what}.`
    : `has a step "${name}" that waits for ${own.what}: use ${own.sentBy}.`
}

/** The most children of each run, and the most generations, among which a receiver is looked for. */
const CHILDREN_MAX = 100
const GENERATIONS_MAX = 4
const LIVE = ['scheduled', 'running', 'waiting', 'paused'] as const

/** A sentence that names a live descendant whose workflow has such a step. Empty if none is found. */
export async function receivingChild(
  parts: { readonly adapter: Adapter; readonly registry: DefinitionRegistry },
  { runId }: Pick<FoundRun, 'runId'>,
  { name, kind }: Wanted,
): Promise<string> {
  let parents: readonly string[] = [runId]
  for (let generation = 0; generation < GENERATIONS_MAX && parents.length > 0; generation += 1) {
    const children: RunRecord[] = []
    for (const parentId of parents.slice(0, CHILDREN_MAX))
      children.push(...(await parts.adapter.listRuns({ parentId, status: LIVE, limit: CHILDREN_MAX })))
    await parts.registry.learn(children.map(({ definitionId }) => definitionId))
    const found = children.find(({ definitionId }) => {
      const shape = parts.registry.recordOf(definitionId)?.shape
      return shape?.steps.some((step) => step.name === name && step.kind === kind)
    })
    if (found !== undefined)
      return ` Its child, run ${found.runId} of "${found.workflow}", has such a step "${name}": send it to that run.`
    parents = children.map((child) => child.runId)
  }
  return ''
}
