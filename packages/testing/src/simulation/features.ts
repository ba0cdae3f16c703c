import type { SimulatedStep, Version } from './plan.ts'

/** What the steps of a version are, and what else each says: 'map', 'map collect', 'loop when' and so on. */
export function featuresOf(version: Version): readonly string[] {
  return [...new Set(Object.values(version.steps).flatMap((step) => featuresOfStep(step, version)))]
}

/** Each feature of a step with each of a step that it depends on, and with what the version has besides. */
export function combinationsOf(version: Version): readonly string[] {
  const { steps, dag, ends } = version
  const features = (name: string) => featuresOfStep(steps[name]!, version)
  const pairs = Object.entries(dag).flatMap(([name, dependencies]) =>
    dependencies.flatMap((dependency) =>
      features(name).flatMap((own) => features(dependency).map((other) => `${own} after ${other}`)),
    ),
  )
  const hasPivot = Object.values(steps).some((step) => 'pivot' in step)
  const beside = [...(Object.keys(ends).length > 0 ? ['end steps'] : []), ...(hasPivot ? ['a pivot'] : [])]
  return [...pairs, ...featuresOf(version).flatMap((own) => beside.map((other) => `${own} beside ${other}`))]
}

function featuresOfStep(step: SimulatedStep, { steps }: Version): readonly string[] {
  const kind = kindOf(step)
  const facts = Object.entries(FACTS).filter(([, holds]) => holds(step as Facts, steps))
  // What a step waits for makes no difference to what else it says.
  const of = WAITS.includes(kind) ? 'wait' : kind
  return [kind, ...facts.map(([fact]) => `${of} ${fact}`)]
}

const WAITS = ['sleep', 'signal', 'approval', 'poll']

function kindOf(step: SimulatedStep): string {
  if ('workflow' in step) return 'over' in step ? 'fan' : 'until' in step ? 'child loop' : 'child'
  if ('over' in step) return 'map'
  if ('repeat' in step) return 'loop'
  if ('on' in step) return 'choice'
  if ('handler' in step) return 'step'
  return WAITS.find((kind) => kind in step)!
}

/** All options of all kinds. */
type Facts = Readonly<Record<string, unknown>>

const FACTS: Readonly<Record<string, (step: Facts, steps: Version['steps']) => boolean>> = {
  collect: ({ onFailure }) => onFailure === 'collect',
  minSuccess: ({ minSuccess }) => minSuccess !== undefined,
  concurrency: ({ concurrency }) => concurrency !== undefined,
  itemKey: ({ itemKey }) => itemKey !== undefined,
  compensate: ({ compensate }) => compensate !== undefined && compensate !== false,
  compensateAll: ({ compensateAll }) => compensateAll !== undefined,
  'compensateOn started': ({ compensateOn }) => compensateOn === 'started',
  'compensate: false': ({ compensate }) => compensate === false,
  detached: ({ detached }) => detached === true,
  transaction: ({ transaction }) => transaction === true,
  continue: ({ onFailure }) => onFailure === 'continue',
  when: ({ when }) => typeof when === 'string',
  cases: ({ when }, steps) => choices(when, steps).some((choice) => 'on' in choice),
  fallback: ({ when }, steps) => choices(when, steps).some((choice) => !('on' in choice)),
  'onSkipped run': ({ onSkipped }) => onSkipped === 'run',
}

function choices(when: unknown, steps: Version['steps']): readonly SimulatedStep[] {
  if (typeof when !== 'object' || when === null) return []
  return Object.keys(when).map((name) => steps[name]!)
}
