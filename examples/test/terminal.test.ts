import { stripVTControlCharacters } from 'node:util'
import picocolors from 'picocolors'
import { describe, expect, test } from 'vitest'
import { cut, fitted, padded, textsOf, widthOf, wrapped } from '../src/terminal/fitting.ts'
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

describe('the errors of a live graph', () => {
  test('stand below it, complete, as long as they matter', () => {
    const failed = view('failed', { a: ['failed'], b: ['undone'] })
    const steps = failed.steps.map((step) => ({ ...step, error: 'the card network did not answer' }))
    const lines = textsOf(graphLines({ ...failed, steps }, { colours, frame: 1, columns: 30 }))
    expect(lines.slice(2)).toEqual(['  run failed', '  a: the card network did not', '  answer'])
  })
})

describe('the screen', () => {
  test('draws over its own lines, and never over printed ones', () => {
    const paper = new Paper({ isTTY: true })
    const screen = new Screen(paper as unknown as OutputStream)

    screen.print('stays')
    screen.draw(() => ['one', 'two'])
    screen.draw(() => ['three'])
    screen.keep()
    screen.draw(() => ['four'])

    expect(paper.text).toBe('stays\none\ntwo\n\u001b[2A\u001b[Jthree\nfour\n')
  })

  test('cuts lines that would wrap, since those could not be erased', () => {
    const paper = new Paper({ isTTY: true })
    new Screen(paper as unknown as OutputStream).draw(() => ['x'.repeat(500)])
    expect(stripVTControlCharacters(paper.text).trimEnd()).toHaveLength(paper.columns - 1)
  })

  test('draws nothing and uses no colours without a terminal', () => {
    const paper = new Paper()
    const screen = new Screen(paper as unknown as OutputStream)
    screen.draw(() => ['one'])
    screen.heading('two')
    expect(paper.text).toBe('\ntwo\n')
  })
})

describe('a screen that changes its size', () => {
  test('draws again what stood there, and erases what the terminal has wrapped', () => {
    const paper = new Paper({ isTTY: true })
    const screen = new Screen(paper as unknown as OutputStream)
    screen.draw(({ columns }) => ['x'.repeat(columns)])
    paper.text = ''

    paper.resize({ columns: 40, rows: 10 })

    // 99 characters had become three rows of 40.
    expect(paper.text).toBe(`\u001b[3A\u001b[J${'x'.repeat(39)}\n`)
  })

  test('draws its page anew in the new size', () => {
    const paper = new Paper({ isTTY: true })
    const screen = new Screen(paper as unknown as OutputStream)
    screen.turnPage()
    screen.drawPage((size) => [`${size.columns} x ${size.rows}`])
    paper.text = ''

    paper.resize({ columns: 60, rows: 20 })
    screen.leavePage()

    expect(paper.text).toBe('\u001b[H59 x 20\u001b[K\u001b[J\r\n\u001b[?25h')
  })
})

describe('fitting', () => {
  test.each([
    ['abc', 3, 'abc'],
    ['abcd', 3, 'ab…'],
    ['漢字漢字', 5, '漢字…'],
    ['漢字漢字', 4, '漢…'],
    ['👩‍🚀👩‍🚀👩‍🚀', 4, '👩‍🚀…'],
    ['\u001b[31mabcd\u001b[39m', 3, '\u001b[31mab\u001b[39m…'],
  ])('cuts %j to %i columns', (text, columns, expected) => {
    expect(stripVTControlCharacters(cut(text, columns))).toBe(stripVTControlCharacters(expected))
    expect(widthOf(cut(text, columns))).toBeLessThanOrEqual(columns)
  })

  test('pads by columns, not by characters', () => {
    expect(padded('漢字', 6)).toBe('漢字  ')
  })

  test('breaks between words and indents what follows like the first words', () => {
    expect(wrapped('  ✔ one two three four', 14)).toEqual(['  ✔ one two', '    three four'])
    expect(wrapped('  12. one two three', 13)).toEqual(['  12. one two', '      three'])
    expect(wrapped('    3.17 s  one two three', 24)).toEqual(['    3.17 s  one two', '            three'])
    expect(wrapped('one two three', 8)).toEqual(['one two', 'three'])
    expect(wrapped('漢字 漢字 漢字', 9)).toEqual(['漢字 漢字', '漢字'])
  })

  test('keeps a coloured mark in front', () => {
    const mark = picocolors.createColors(true).green('✔')
    expect(wrapped(`  ${mark} one two three`, 12)).toEqual([`  ${mark} one two`, '    three'])
  })

  test('leaves out empty lines first, and arrows only all together', () => {
    const lines = ['a', { spare: '▼' }, 'b', { spare: '' }, 'c', { spare: '▼' }, 'd', { spare: '' }]
    const at = (rows: number) => fitted(lines, { columns: 9, rows })
    expect(at(8)).toEqual(['a', '▼', 'b', '', 'c', '▼', 'd', ''])
    expect(at(7)).toEqual(['a', '▼', 'b', '', 'c', '▼', 'd'])
    expect(at(6)).toEqual(['a', '▼', 'b', 'c', '▼', 'd'])
    expect(at(5)).toEqual(['a', 'b', '', 'c', 'd'])
    expect(at(3)).toEqual(['a', 'b', 'c'])
  })
})

describe('a table that is too wide', () => {
  const rows = [{ step: 'updateAnalytics', ms: 5, output: 'a rather long output' }]

  test('cuts its last column first', () => {
    expect(table(rows, 42)).toEqual([
      '  step            | ms | output',
      '  ----------------+----+------------------',
      '  updateAnalytics |  5 | a rather long ou…',
    ])
  })

  test('says which column has no room, and then cuts others', () => {
    expect(table(rows, 20)).toEqual([
      '  step          | ms',
      '  --------------+---',
      '  updateAnalyt… |  5',
      '  (no room for output)',
    ])
  })

  test.each([30, 40, 60])('has no line longer than %i columns', (columns) => {
    for (const line of table(rows, columns)) expect(widthOf(line)).toBeLessThanOrEqual(columns)
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
  return textsOf(graphLines(run, { colours, frame: 1, columns: 80 })).map((line) =>
    line.trim().replace(/ +/g, ' '),
  )
}
