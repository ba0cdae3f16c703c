import { describe, expect, test } from 'vitest'
import { readFlags } from '../src/demonstration/flags.ts'
import { Program } from './program.ts'

// Processes start slowly on a busy machine, and a test waits for one or two of them.
describe('flags', () => {
  test.each([
    [['--nope'], "Unknown option '--nope'"],
    [
      ['--only', 'everything'],
      '--only takes order, import, csv, media, dashboard, waiting, or all, got "everything".',
    ],
    [['--only'], "Option '--only <value>' argument missing"],
    [['--folder', ''], '--folder takes a path, got nothing.'],
    [['--pace', 'fast'], '--pace takes whole milliseconds from 0 to 99999, got "fast".'],
    [
      ['nothing'],
      'There is no example "nothing". There is order, import, csv, media, dashboard, waiting, or all.',
    ],
    [['order', 'csv'], 'One name at most, got order and csv.'],
  ])('%j is refused with a reason', (args, reason) => {
    expect(() => readFlags(args, '/default')).toThrow(reason)
  })

  test('have defaults', () => {
    expect(readFlags([], '/default')).toEqual({
      help: false,
      list: false,
      show: 'tour',
      fresh: false,
      folder: '/default',
      paceMs: 350,
      sql: false,
    })
  })

  test('take an example by its name, with --only or without', () => {
    expect(readFlags(['media'], '/default').show).toBe('media')
    expect(readFlags(['--only', 'media'], '/default').show).toBe('media')
  })
})

test('an unknown flag ends with exit code 2 and one clear line', async () => {
  const { code, out, err } = await new Program('start.js', ['--nope']).ended
  expect(code).toBe(2)
  expect(err).toBe("Unknown option '--nope'\nTry --help.\n")
  expect(out).toBe('')
})

test('--help explains every option and does nothing else', async () => {
  const { code, out } = await new Program('start.js', ['--help']).ended
  expect(code).toBe(0)
  const flags = ['--list', '--only', '--sql', '--fresh', '--folder', '--pace', '--help', 'DATABASE_URL']
  for (const flag of flags) expect(out).toContain(flag)
  for (const name of ['order', 'import', 'csv', 'media', 'waiting', 'all'])
    expect(out).toContain(`  ${name} `)
  expect(Math.max(...out.split('\n').map((line) => line.length))).toBeLessThan(80)
})

test.each([
  ['--list', 'npm start -- media'],
  ['--list', 'npm start -- dashboard'],
  ['--list', 'npm run playground'],
  ['waiting', 'node examples/dist/waiting/desk.js approve'],
])('%s tells how to start examples, and starts nothing', async (argument, told) => {
  const { code, out, err } = await new Program('start.js', [argument]).ended
  expect(code, err).toBe(0)
  expect(out).toContain(told)
})

test('--fresh is refused on a PostgreSQL server', async () => {
  const environment = { DATABASE_URL: 'postgres://localhost/shop' }
  const { code, err } = await new Program('start.js', ['--fresh'], environment).ended
  expect(code).toBe(2)
  expect(err).toContain('drop the schemas belay, shop, atlas, towns and gallery yourself')
})

test.each([
  ['postgres://ada:s3cret@127.0.0.1:1/shop', '127.0.0.1'],
  ['shop', 'does not start with postgres://'],
])('DATABASE_URL=%s ends with a clear error, without stack and password', async (url, named) => {
  const { code, out, err } = await new Program('start.js', [], { DATABASE_URL: url }).ended
  expect(code, out).toBe(1)
  expect(err).toContain(named)
  expect(err).not.toContain('s3cret')
  expect(err).not.toContain('    at ')
})

test('the quickstart greets', async () => {
  const { code, out, err } = await new Program('quickstart.js').ended
  expect(code, err).toBe(0)
  expect(out).toBe('Hello Ada, your name has 3 letters.\n')
})

test('an operator without the code sees why undos are parked, and repairs them', async () => {
  const { code, out, err } = await new Program('repair.js').ended
  expect(code, err).toBe(0)
  const lines = [
    'payout, versions 1: reserve → transfer → notify',
    '3 undos are parked.',
    '[retryCompensation, skipCompensation]',
    'transfer: compensation_failed → compensating',
    '2 would be repaired, 0 refused.',
  ]
  for (const line of lines) expect(out).toContain(line)
  expect(
    out.split('\n').filter((line) => line === 'payout: compensated, retry_compensation by ada'),
  ).toHaveLength(3)
})

test('the graph as data draws itself and runs', async () => {
  const { code, out, err } = await new Program('graph-as-data.js').ended
  expect(code, err).toBe(0)
  expect(out).toContain('flowchart')
  expect(out).toContain('A climber on a wall: small.png,large.png')
})
