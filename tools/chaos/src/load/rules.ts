import type { WorkflowDefinition } from '@belay/workflow'
import { baseName } from '../oracle/effect-keys.ts'
import type { Graph, Rules } from '../oracle/rules.ts'
import { OPENING_CENTS } from '../world/schema.ts'
import { PACKED_AT_ONCE_MAX, QUOTES } from './checkout.ts'
import { SIGHTINGS } from './features.ts'
import { FLOW_RULES } from './flow.ts'
import { RESIZED_AT_ONCE_MAX } from './gallery.ts'
import { expectedOf } from './model.ts'
import type { Workflows } from './workflows.ts'

const EFFECT_STEPS = {
  transfer: ['confirm'],
  order: ['reserve', 'pack1', 'pack2', 'pack3', 'charge', 'insure'],
  patient: ['book', 'settle'],
  gallery: ['open', 'fetch', 'resize', 'upload', 'grid', 'list', 'review', 'index'],
  checkout: ['claim', 'render', 'charge', 'invoice', 'capture', 'record', 'thank'],
  delivery: ['label', 'parcel'],
  newsletter: ['enrol'],
  quote: ['offer'],
  errand: ['pickUp', 'inform', 'bring'],
  edits: ['edit'],
  notices: ['notice'],
  rows: ['row'],
  tick: ['tick'],
  'gallery/ended': ['announce', 'alert', 'apologise', 'count'],
  'checkout/ended': ['receipt', 'regret', 'archive'],
  'delivery/ended': ['tidy'],
}

/** What the oracle knows of the load. */
export function rulesOf(workflows: Workflows): Rules {
  const { gallery, checkout, delivery, quote, errand } = workflows
  return {
    effectSteps: EFFECT_STEPS,
    ledgerSteps: ['debit', 'credit'],
    openingCents: OPENING_CENTS,
    undoneTogether: { gallery: ['upload'] },
    graphs: {
      gallery: graphOf(gallery),
      checkout: graphOf(checkout),
      delivery: graphOf(delivery),
      errand: graphOf(errand),
    },
    undoable: {
      gallery: undoableOf(gallery),
      checkout: undoableOf(checkout),
      delivery: undoableOf(delivery),
      quote: undoableOf(quote),
      errand: undoableOf(errand),
    },
    loops: { gallery: ['fetch'] },
    limits: {
      gallery: { step: 'resize', most: RESIZED_AT_ONCE_MAX },
      delivery: { step: 'parcel', most: PACKED_AT_ONCE_MAX },
    },
    pivots: { checkout: 'capture' },
    children: {
      deliver: { workflow: 'delivery', isDetached: false },
      quotes: { workflow: 'quote', isDetached: false, rounds: QUOTES },
      subscribe: { workflow: 'newsletter', isDetached: true },
    },
    ends: {
      gallery: { announce: 'completed', alert: 'failed', apologise: 'compensated', count: 'any' },
      checkout: { receipt: 'completed', regret: 'compensated', archive: 'any' },
      delivery: { tidy: 'any' },
    },
    retried: SIGHTINGS.retriedRun,
    values: { gallery: 'index', checkout: 'thank' },
    expected: expectedOf,
    flow: FLOW_RULES,
  }
}

/** For each step, all steps that it builds on. A map or a loop is one step here. */
function graphOf({ record }: Pick<WorkflowDefinition, 'record'>): Graph {
  const { steps } = record.shape
  const below = steps.map(() => new Set<string>())
  steps.forEach(({ dependsOn }, number) => {
    for (const dependency of dependsOn)
      for (const name of [baseName(steps[dependency]!.name), ...below[dependency]!]) below[number]!.add(name)
  })
  return new Map(
    steps.flatMap(({ name }, number) =>
      name.endsWith('[]') ? [] : [[name, new Set([...below[number]!].filter((other) => other !== name))]],
    ),
  )
}

function undoableOf({ record }: Pick<WorkflowDefinition, 'record'>): ReadonlySet<string> {
  const undone = record.shape.steps.filter(
    ({ compensate, compensateAll }) => compensate !== 'never' && compensateAll !== true,
  )
  return new Set(undone.map(({ name }) => baseName(name)))
}
