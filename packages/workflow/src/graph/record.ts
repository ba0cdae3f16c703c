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
  readonly kind?: (step: number) => StepShape['kind']
}): DefinitionRecord {
  const { name, version, graph, compensate, kind } = definition
  const steps = graph.names.map((step, number) =>
    Object.freeze(
      stepShape({
        name: step,
        dependsOn: graph.dependencies[number]!,
        compensate: compensate(number),
        kind: kind?.(number),
      }),
    ),
  )
  const shape = Object.freeze({ steps: Object.freeze(steps) })
  return Object.freeze({ name, version, checksum: shapeChecksum(shape), shape })
}

/** SHA-256 of the shape's canonical JSON, as hex. A database may reorder the keys of the shape: the checksum stays the same. */
export function shapeChecksum(shape: DefinitionShape): string {
  const steps = shape.steps.map(stepShape)
  return bytesToHex(sha256(utf8ToBytes(JSON.stringify({ steps }))))
}

/** Fixed order of keys, and no `kind` for steps that do not wait: older checksums, from before kinds existed, must stay valid. */
function stepShape({ name, dependsOn, compensate, kind }: StepShape): StepShape {
  return kind === undefined ? { name, dependsOn, compensate } : { name, dependsOn, compensate, kind }
}
