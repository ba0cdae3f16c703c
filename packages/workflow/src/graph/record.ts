import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import type { CollectMode } from '../adapter/collect-mode.ts'
import type { DefinitionRecord, DefinitionShape, StepShape } from '../adapter/records.ts'
import type { StepGraph } from './graph.ts'

/** What a shape says of a step besides its place in the graph. */
export type StepFacts = Omit<StepShape, 'name' | 'dependsOn'>

/** What a store keeps of a definition: its shape and a checksum of it. */
export function definitionRecord(definition: {
  readonly name: string
  readonly version: number
  readonly graph: StepGraph
  readonly facts: (step: number) => StepFacts
  readonly endSteps?: true | undefined
  readonly collects?: CollectMode | undefined
  readonly refuses?: true | undefined
  readonly priority?: number | undefined
}): DefinitionRecord {
  const { name, version, graph, facts, endSteps, collects, refuses, priority } = definition
  const steps = graph.names.map((step, number) => {
    const own = facts(number)
    const known = stepShape({ name: step, dependsOn: graph.dependencies[number]!, ...own })
    return Object.freeze({ ...known, ...unlessZero(own.priority) })
  })
  const shape = Object.freeze({
    steps: Object.freeze(steps),
    ...(endSteps && { endSteps }),
    ...(collects && { collects }),
    ...(refuses && { refuses }),
    ...unlessZero(priority),
  })
  return Object.freeze({ name, version, checksum: shapeChecksum(shape), shape })
}

/** A priority may change within a version: it is no part of the checksum. */
function unlessZero(priority: number | undefined): { readonly priority?: number } {
  return priority === undefined || priority === 0 ? {} : { priority }
}

/** SHA-256 of the shape's canonical JSON, as hex. A database may reorder the keys of the shape: the checksum stays the same. */
export function shapeChecksum(shape: DefinitionShape): string {
  const { endSteps, collects } = shape
  const known = {
    steps: shape.steps.map(stepShape),
    ...(endSteps && { endSteps }),
    ...(collects && { collects }),
  }
  return bytesToHex(sha256(utf8ToBytes(JSON.stringify(known))))
}

/** Fixed order of keys, and only those that are set: checksums from before the later keys existed must stay valid. */
function stepShape(step: StepShape): StepShape {
  const { name, dependsOn, compensate, kind, cases, when, onSkipped, onFailure, compensateAll } = step
  const { children, irreversible, pivot } = step
  return {
    name,
    dependsOn,
    compensate,
    ...(kind === undefined ? {} : { kind }),
    ...(cases === undefined ? {} : { cases }),
    ...(when === undefined ? {} : { when: whenShape(when) }),
    ...(onSkipped === undefined ? {} : { onSkipped }),
    ...(onFailure === undefined ? {} : { onFailure }),
    ...(compensateAll === undefined ? {} : { compensateAll }),
    ...(children === undefined ? {} : { children }),
    ...(irreversible === undefined ? {} : { irreversible }),
    ...(pivot === undefined ? {} : { pivot }),
  }
}

function whenShape(when: NonNullable<StepShape['when']>): NonNullable<StepShape['when']> {
  return when === 'function' ? when : when.map(({ choice, cases }) => ({ choice, cases }))
}
