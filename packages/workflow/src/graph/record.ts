import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import type { DefinitionRecord, DefinitionShape, StepShape } from '../adapter/records.ts'
import type { StepGraph } from './graph.ts'

/** What a store keeps of a definition: its shape and a checksum of it. */
export function definitionRecord(definition: {
  readonly name: string
  readonly version: number
  readonly graph: StepGraph
  readonly compensate: (step: number) => StepShape['compensate']
}): DefinitionRecord {
  const { name, version, graph, compensate } = definition
  const steps = graph.names.map((step, number) =>
    Object.freeze({ name: step, dependsOn: graph.dependencies[number]!, compensate: compensate(number) }),
  )
  const shape = Object.freeze({ steps: Object.freeze(steps) })
  return Object.freeze({ name, version, checksum: shapeChecksum(shape), shape })
}

/** SHA-256 of the shape's canonical JSON, as hex. The same for a shape that a database has given its keys another order. */
export function shapeChecksum(shape: DefinitionShape): string {
  const steps = shape.steps.map(({ name, dependsOn, compensate }) => ({ name, dependsOn, compensate }))
  return bytesToHex(sha256(utf8ToBytes(JSON.stringify({ steps }))))
}
