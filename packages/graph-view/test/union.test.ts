import { describe, expect, test } from 'vitest'
import { compareRuns, drawPair, drawUnion, layoutGraph, partingText, svgText, unite } from '../src/index.ts'
import { randomOf } from './random.ts'
import { RUNS } from './runs.ts'

const step = (name: string, dependsOn: readonly string[] = [], more = {}) => ({
  ...{ name, dependsOn, kind: 'work', compensate: 'never', pivot: false, irreversible: false } as const,
  ...more,
})
const namesOf = (steps: ReturnType<typeof unite>) => steps.map(({ name }) => name)
