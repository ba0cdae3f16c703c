import { describe, expect, it } from 'vitest'
import { type DefinitionShape, STEP_KINDS, type StepKind } from '../../src/adapter/index.ts'
import {
  define,
  defineGraph,
  type GraphChoice,
  type GraphLoop,
  type GraphMap,
  type GraphStep,
  type GraphWait,
} from '../../src/definition/index.ts'
import type { WorkflowDefinition } from '../../src/definition/workflow.ts'
import { diffShapes, toMermaid } from '../../src/graph/index.ts'

const base = define('w', { version: 1 })
const check = () => true
const list = () => [1]

/** How users write a step of each kind. A new kind does not compile until it is here. */
const WRITTEN: Readonly<
  Record<
    StepKind,
    {
      readonly inCode: WorkflowDefinition
      readonly asData: GraphStep | GraphMap | GraphLoop | GraphWait | GraphChoice
    }
  >
> = {
  work: { inCode: base.step('a', { run: check }), asData: { handler: 'check' } },
  choose: {
    inCode: base.choose('a', { on: () => 'x', cases: ['x'] }),
    asData: { on: 'check', cases: ['x'] },
  },
  sleep: { inCode: base.sleep('a', { for: '3d' }), asData: { sleep: '3d' } },
  signal: { inCode: base.waitForSignal('a'), asData: { signal: true } },
  approval: { inCode: base.approval('a'), asData: { approval: true } },
  map: {
    inCode: base.map('a', { over: list, run: check }),
    asData: { over: 'list', handler: 'check' },
  },
  repeat: {
    inCode: base.repeat('a', { run: check, until: check }),
    asData: { repeat: 'check', until: 'check' },
  },
  join: {
    inCode: base.map('a', { over: list, run: check }),
    asData: { over: 'list', handler: 'check' },
  },
  child: { inCode: base.workflow('a', 'w', {}), asData: { workflow: 'w' } },
  poll: { inCode: base.poll('a', { every: '1m', until: check }), asData: { poll: 'check', every: '1m' } },
}

describe.each(Object.entries(WRITTEN))('the kind %s', (kind, { inCode, asData }) => {
  const stored = kind === 'work' ? undefined : kind

  it('is written in code and as data, with the same shape', () => {
    const data = defineGraph('w', { steps: { a: asData }, dag: {} }, { check, list })

    expect(inCode.record.shape.steps.map((step) => step.kind)).toContain(stored)
    expect(data.record).toEqual(inCode.record)
  })

  it('can be run without a handler only if its facts say so', () => {
    // A map has two steps, and its items need a handler.
    const needsHandler = STEP_KINDS[kind as StepKind].needsHandler || kind === 'join'

    expect(defineGraph('w', { steps: { a: asData }, dag: {} }).runnable).toBe(!needsHandler)
  })
})

it('the words and marks of the kinds differ, so that diffs and charts tell them apart', () => {
  for (const fact of ['does', 'mark'] as const) {
    const values = Object.values(STEP_KINDS).map((facts) => facts[fact])
    expect(new Set(values).size, fact).toBe(values.length)
  }
})

it('a kind that a newer release has stored breaks neither a diff nor a chart', () => {
  const shape = {
    steps: [{ name: 'a', dependsOn: [], compensate: 'never', kind: 'party' }],
  } as unknown as DefinitionShape
  const known = base.step('a', { run: check })

  expect(diffShapes(shape, known.record.shape)).toEqual([
    '~ a: works, was "party", which this release does not know',
  ])
  expect(toMermaid({ record: { name: 'w', version: 1, checksum: '', shape } })).toContain('(["? a"])')
})
