import { DefinitionError } from '../errors.ts'
import { nearest, offered } from '../nearest.ts'
import { shown } from '../shown.ts'
import { definitionError, listed } from './place.ts'
import { Problems } from './problems.ts'

/** The most steps in one definition. */
export const STEPS_MAX = 20_000

/** The most dependencies of all steps in one definition together. */
export const DEPENDENCIES_MAX = 200_000

/** The most characters in the name of a workflow or step. */
const NAME_LENGTH_MAX = 128

/** With more names than this no similar name is searched, because the search runs for every wrong name. */
const SEARCHED_MAX = 2_000

/** A longer suggestion is only in the problem's fields, not in the message. */
const SUGGESTION_SHOWN_MAX = 60

const NAME = /^[A-Za-z][A-Za-z0-9_.:-]*$/

/** The part of a step that the graph needs. */
export interface GraphNode {
  readonly name: string
  readonly dependsOn: readonly string[]
}

/** Refuses an invalid workflow name. */
export function checkWorkflowName(name: unknown): asserts name is string {
  const defect = nameDefect(name)
  if (defect === undefined) return
  const suggestion = validName(name)
  const message = `Workflow name ${shown(name)} ${defect}${suggested(suggestion)}`
  throw new DefinitionError(message, {
    problems: [{ kind: 'invalid_name', message, ...named(name), suggestion }],
  })
}

/** Refuses an invalid step name. Its suggestion is not in `taken`, and is added to it. */
export function checkStepName(
  workflow: string,
  name: unknown,
  taken: Set<string> = new Set(),
): asserts name is string {
  const defect = nameDefect(name)
  if (defect === undefined) return
  const suggestion = freeName(validName(name), taken)
  throw definitionError({ workflow }, `step name ${shown(name)} ${defect}${suggested(suggestion)}`, {
    kind: 'invalid_name',
    ...named(name),
    suggestion,
  })
}

/** The name without invalid characters; undefined if nothing remains. */
function validName(name: unknown): string | undefined {
  if (typeof name !== 'string') return undefined
  const valid = name.replace(/^[^A-Za-z]+/, '').replace(/[^A-Za-z0-9_.:-]+/g, '_')
  const cut = valid.slice(0, NAME_LENGTH_MAX - 8).replace(/_+$/, '')
  return cut === '' ? undefined : cut
}

function freeName(name: string | undefined, taken: Set<string>): string | undefined {
  let free = name
  for (let number = 2; free !== undefined && taken.has(free); number++) free = `${name}-${number}`
  if (free !== undefined) taken.add(free)
  return free
}

function suggested(suggestion: string | undefined): string {
  if (suggestion === undefined || suggestion.length > SUGGESTION_SHOWN_MAX) return ''
  return ` ${JSON.stringify(suggestion)} would be valid.`
}

function named(name: unknown): { readonly name?: string } {
  return typeof name === 'string' ? { name } : {}
}

function nameDefect(name: unknown): string | undefined {
  const rule = `A name must begin with a letter, continue with letters, digits, "_", "-", "." or ":", and have at most ${NAME_LENGTH_MAX} characters.`
  if (typeof name !== 'string') return `is not a string. ${rule}`
  if (name.length > NAME_LENGTH_MAX) return `has ${name.length} characters. ${rule}`
  return NAME.test(name) ? undefined : `is not valid. ${rule}`
}

/** The steps among which {@link checkDependencies} looks up names. */
export interface KnownSteps {
  has(name: string): boolean
  names(): readonly string[]
}

/** Refuses a step's dependencies that are unknown, duplicate, or the step itself. Throws all problems at once. */
export function checkDependencies(workflow: string, step: GraphNode, known: KnownSteps): void {
  const problems = new Problems(workflow)
  for (const error of dependencyErrors(workflow, step, known)) problems.add(error)
  problems.throwIfAny()
}

function* dependencyErrors(
  workflow: string,
  { name: step, dependsOn }: GraphNode,
  known: KnownSteps,
): Generator<DefinitionError> {
  const place = { workflow, step }
  const seen = new Set<string>()
  for (const name of dependsOn) {
    if (name === step) {
      const fields = { kind: 'cycle', name, cycle: Object.freeze([name]) } as const
      yield definitionError(place, 'it depends on itself. Remove that dependency.', fields)
    } else if (seen.has(name)) {
      const message = `it depends on "${name}" twice. Name each dependency once.`
      yield definitionError(place, message, { kind: 'duplicate_dependency', name })
    } else if (!known.has(name)) {
      yield unknownDependency(place, name, known.names())
    }
    seen.add(name)
  }
}

function unknownDependency(
  place: { readonly workflow: string; readonly step: string },
  name: unknown,
  names: readonly string[],
): DefinitionError {
  const kind = 'unknown_dependency'
  if (typeof name !== 'string') {
    return definitionError(place, `a dependency is ${shown(name)}, and must be the name of a step.`, {
      kind,
    })
  }
  const known = names.length === 0 ? 'No step is defined before it.' : `Defined steps: ${listed(names)}.`
  const suggestion = names.length > SEARCHED_MAX ? undefined : nearest(name, names)
  const message = `it depends on "${name}", which is not defined.${offered(suggestion)} ${known}`
  return definitionError(place, message, { kind, name, suggestion })
}

/** A map has a second step, whose name nobody gives. */
function withoutBrackets(name: unknown): unknown {
  return typeof name === 'string' ? name.replace(/\[\]$/, '') : name
}

/** Refuses steps that do not form a graph, apart from cycles. Throws all problems at once. */
export function checkNodes(workflow: string, nodes: readonly GraphNode[]): void {
  if (nodes.length === 0) throw definitionError({ workflow }, 'it has no steps. Define at least one.')
  checkStepCount(workflow, nodes.length)
  const problems = new Problems(workflow)
  const names = new Set<string>()
  for (const { name } of nodes) {
    problems.collect(() => checkStepName(workflow, withoutBrackets(name)))
    if (names.has(name)) problems.add(duplicateStep(workflow, name))
    names.add(name)
  }
  const known = { has: (name: string) => names.has(name), names: () => [...names] }
  for (const node of nodes) {
    for (const error of dependencyErrors(workflow, node, known)) problems.add(error)
  }
  problems.throwIfAny()
  checkDependencyCount(workflow, nodes)
}

export function duplicateStep(workflow: string, name: string): DefinitionError {
  return definitionError(
    { workflow, step: name },
    'a step with this name is already defined. Give one of them another name.',
    { kind: 'duplicate_step', name },
  )
}

/** Refuses more than {@link STEPS_MAX} steps. */
export function checkStepCount(workflow: string, count: number): void {
  if (count <= STEPS_MAX) return
  throw definitionError(
    { workflow },
    `it has ${count} steps, and at most ${STEPS_MAX} are allowed. Split it into several workflows, or let one step do the work of many.`,
  )
}

function checkDependencyCount(workflow: string, nodes: readonly GraphNode[]): void {
  const count = nodes.reduce((sum, node) => sum + node.dependsOn.length, 0)
  if (count <= DEPENDENCIES_MAX) return
  throw definitionError(
    { workflow },
    `its steps have ${count} dependencies in total, and at most ${DEPENDENCIES_MAX} are allowed. Where steps share many dependencies, let them depend on one step that joins those.`,
  )
}
