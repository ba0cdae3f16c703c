import type { StandardSchemaV1 } from '@standard-schema/spec'
import { STEP_KINDS } from '../adapter/step-kinds.ts'
import { buildGraph } from '../graph/build.ts'
import { definitionRecord } from '../graph/record.ts'
import { checkSchema } from './input-schema.ts'
import { positiveMs, wholeNumber } from './option-check.ts'
import type { StepDefinition } from './step.ts'
import type { StepDraft } from './step-draft.ts'
import type { WorkflowDefinition } from './workflow.ts'

/** What all steps of a definition share. */
export interface DefinitionHead {
  readonly name: string
  readonly version: number
  readonly schema: StandardSchemaV1 | undefined
  readonly deadlineMs: number | null
}

/** The largest version. */
export const VERSION_MAX = 2_147_483_647

/** Checks what all steps share. The caller has checked `name`. */
export function definitionHead(
  name: string,
  options: {
    readonly version: unknown
    readonly input?: StandardSchemaV1 | undefined
    readonly deadline?: unknown
  },
): DefinitionHead {
  const version = wholeNumber({ workflow: name }, 'version', options.version, { min: 1, max: VERSION_MAX })
  if (options.input !== undefined) checkSchema({ workflow: name }, 'input', options.input)
  return { name, version, schema: options.input, deadlineMs: deadlineMs(name, options.deadline) }
}

function deadlineMs(workflow: string, given: unknown): number | null {
  return given === undefined ? null : positiveMs({ workflow }, 'deadline', given)
}

/** The parts of a definition that can be computed only from all its steps. */
export type CompiledDefinition = Pick<WorkflowDefinition, 'steps' | 'graph' | 'record' | 'runnable'>

/**
 * Numbers the steps and makes the definition's graph and record.
 *
 * @throws DefinitionError for everything {@link buildGraph} refuses.
 */
export function compileDefinition(head: DefinitionHead, drafts: readonly StepDraft[]): CompiledDefinition {
  const graph = buildGraph(head.name, drafts)
  const steps: StepDefinition[] = new Array(drafts.length)
  for (const draft of drafts) {
    const number = graph.numberOf(draft.name)!
    steps[number] = numbered(draft, number)
  }
  const record = definitionRecord({
    name: head.name,
    version: head.version,
    graph,
    compensate: (number) => executed(steps[number]!).compensation?.on ?? 'never',
    kind: (number) => steps[number]!.wait?.kind ?? steps[number]!.map?.part,
  })
  return Object.freeze({ steps: Object.freeze(steps), graph, record, runnable: steps.every(hasHandlers) })
}

function numbered(draft: StepDraft, number: number): StepDefinition {
  const { map } = draft
  if (map?.part !== 'map') return Object.freeze({ ...draft, number, map })
  return Object.freeze({ ...draft, number, map: Object.freeze({ ...map, item: numbered(map.item, number) }) })
}

/** What has the handlers: of a map, its items. */
function executed(step: StepDefinition): StepDefinition {
  return step.map?.part === 'map' ? step.map.item : step
}

function hasHandlers(step: StepDefinition): boolean {
  const { needsHandler } = STEP_KINDS[step.wait?.kind ?? step.map?.part ?? 'work']
  const { run, compensation } = executed(step)
  return (!needsHandler || (step.run !== null && run !== null)) && compensation?.run !== null
}
