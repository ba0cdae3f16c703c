import { DefinitionError } from '../errors.ts'
import { didYouMean } from '../nearest.ts'
import { shown } from '../shown.ts'
import { definitionError, listed } from './place.ts'

/** The most steps one definition may have. */
export const STEPS_MAX = 20_000

/** The most dependencies all steps of one definition may have together. */
export const DEPENDENCIES_MAX = 200_000

/** The most characters a name of a workflow or step may have. */
const NAME_LENGTH_MAX = 128

const NAME = /^[A-Za-z][A-Za-z0-9_.:-]*$/

/** A step as far as the graph is concerned. */
export interface GraphNode {
  readonly name: string
  readonly dependsOn: readonly string[]
}

/** Refuses a workflow's name that the rule for names forbids. */
export function checkWorkflowName(name: unknown): asserts name is string {
  const defect = nameDefect(name)
  if (defect !== undefined) throw new DefinitionError(`Workflow name ${shown(name)} ${defect}`)
}

/** Refuses a step's name that the rule for names forbids. */
export function checkStepName(workflow: string, name: unknown): asserts name is string {
  const defect = nameDefect(name)
  if (defect !== undefined) throw definitionError({ workflow }, `step name ${shown(name)} ${defect}`)
}

function nameDefect(name: unknown): string | undefined {
  const rule = `A name must begin with a letter, continue with letters, digits, "_", "-", "." or ":", and have at most ${NAME_LENGTH_MAX} characters.`
  if (typeof name !== 'string') return `is not a string. ${rule}`
  if (name.length > NAME_LENGTH_MAX) return `has ${name.length} characters. ${rule}`
  return NAME.test(name) ? undefined : `is not valid. ${rule}`
}

/** What {@link checkDependencies} looks names up in. */
export interface KnownSteps {
  has(name: string): boolean
  names(): readonly string[]
}

/** Refuses dependencies of one step that are unknown, doubled, or the step itself. */
export function checkDependencies(workflow: string, step: GraphNode, known: KnownSteps): void {
  const place = { workflow, step: step.name }
  const seen = new Set<string>()
  for (const dependency of step.dependsOn) {
    if (dependency === step.name)
      throw definitionError(place, 'it depends on itself. Remove that dependency.')
    if (seen.has(dependency))
      throw definitionError(place, `it depends on "${dependency}" twice. Name each dependency once.`)
    seen.add(dependency)
    if (!known.has(dependency)) throw definitionError(place, unknownDependency(dependency, known.names()))
  }
}

function unknownDependency(dependency: unknown, names: readonly string[]): string {
  if (typeof dependency !== 'string')
    return `a dependency is ${shown(dependency)}, and must be the name of a step.`
  const known = names.length === 0 ? 'No step is defined before it.' : `Defined steps: ${listed(names)}.`
  return `it depends on "${dependency}", which is not defined.${didYouMean(dependency, names)} ${known}`
}

/** Refuses everything about steps that makes them no graph, but cycles. */
export function checkNodes(workflow: string, nodes: readonly GraphNode[]): void {
  if (nodes.length === 0) throw definitionError({ workflow }, 'it has no steps. Define at least one.')
  checkStepCount(workflow, nodes.length)
  const names = new Set<string>()
  for (const { name } of nodes) {
    checkStepName(workflow, name)
    if (names.has(name)) throw duplicateStep(workflow, name)
    names.add(name)
  }
  const known = { has: (name: string) => names.has(name), names: () => [...names] }
  for (const node of nodes) checkDependencies(workflow, node, known)
  checkDependencyCount(workflow, nodes)
}

export function duplicateStep(workflow: string, name: string): DefinitionError {
  return definitionError(
    { workflow, step: name },
    'a step of this name is defined already. Give one of them another name.',
  )
}

/** Refuses more than {@link STEPS_MAX} steps. */
export function checkStepCount(workflow: string, count: number): void {
  if (count <= STEPS_MAX) return
  throw definitionError(
    { workflow },
    `it has ${count} steps, and ${STEPS_MAX} is the most. Split it into several workflows, or let one step do the work of many.`,
  )
}

function checkDependencyCount(workflow: string, nodes: readonly GraphNode[]): void {
  const count = nodes.reduce((sum, node) => sum + node.dependsOn.length, 0)
  if (count <= DEPENDENCIES_MAX) return
  throw definitionError(
    { workflow },
    `its steps have ${count} dependencies together, and ${DEPENDENCIES_MAX} is the most. Put a step that joins many dependencies in front of those that share them.`,
  )
}
