import { stripVTControlCharacters } from 'node:util'
import picocolors from 'picocolors'
import { describe, expect, test } from 'vitest'
import { graphLines } from '../src/terminal/live-graph.ts'
import type { RunView, StepState } from '../src/terminal/run-view.ts'
import { type OutputStream, Screen } from '../src/terminal/screen.ts'
import { table } from '../src/terminal/table.ts'
import { Paper } from './paper.ts'

const colours = picocolors.createColors(false)

describe('the live graph', () => {
  test('puts steps side by side that may run at once, and arrows show the run’s direction', () => {
    const forward = view('running', { a: ['done'], b: ['running'], c: ['waiting', 'a', 'b'] })
    const backward = view('compensating', { a: ['undoing'], b: ['undone'], c: ['failed', 'a', 'b'] })

    expect(marksOf(forward)).toEqual(['┌ ✔ a done', '└ ⠙ b running', '▼', '─ · c waiting', 'run running'])
    expect(marksOf(backward)).toEqual([
      '┌ ⠙ a undoing',
      '└ ↩ b undone',
      '▲',
      '─ ✘ c failed',
      'run compensating',
    ])
  })
})

describe('the screen', () => {
  test('draws over its own lines, and never over printed ones', () => {
    const paper = new Paper({ isTTY: true })
    const screen = new Screen(paper as unknown as OutputStream)

    screen.print('stays')
    screen.draw(['one', 'two'])
    screen.draw(['three'])
    screen.keep()
    screen.draw(['four'])

    expect(paper.text).toBe('stays\none\ntwo\n\u001b[2A\u001b[0Jthree\nfour\n')
  })

  test('cuts lines that would wrap, since those could not be erased', () => {
    const paper = new Paper({ isTTY: true })
    new Screen(paper as unknown as OutputStream).draw(['x'.repeat(500)])
    expect(stripVTControlCharacters(paper.text).trimEnd()).toHaveLength(paper.columns - 1)
  })

  test('draws nothing and uses no colours without a terminal', () => {
    const paper = new Paper()
    const screen = new Screen(paper as unknown as OutputStream)
    screen.draw(['one'])
    screen.heading('two')
    expect(paper.text).toBe('\ntwo\n')
  })
})

test('a table right-aligns numbers and leaves null empty', () => {
  expect(
    table([
      { step: 'a', ms: 5 },
      { step: 'bc', ms: 120 },
      { step: 'd', ms: null },
    ]),
  ).toEqual(['  step | ms', '  -----+----', '  a    |   5', '  bc   | 120', '  d    |'])
})

function view(status: RunView['status'], steps: Record<string, readonly [StepState, ...string[]]>): RunView {
  return {
    status,
    steps: Object.entries(steps).map(([name, [state, ...dependsOn]]) => ({
      name,
      dependsOn,
      state,
      attempt: 0,
      durationMs: undefined,
      error: undefined,
    })),
  }
}

function marksOf(run: RunView): readonly string[] {
  return graphLines(run, { colours, frame: 1 }).map((line) => line.trim().replace(/ +/g, ' '))
}
