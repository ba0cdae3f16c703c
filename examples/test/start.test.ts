import { expect, test } from 'vitest'
import { Program } from './program.ts'

test.each([
  [['--nope'], "Unknown option '--nope'"],
  [['--only', 'everything'], '--only takes order or import, got "everything".'],
  [['--only'], "Option '--only <value>' argument missing"],
  [['--pace', 'fast'], '--pace takes whole milliseconds from 0 to 99999, got "fast".'],
  [['order'], "Unexpected argument 'order'"],
])('%j is refused with exit code 2 and a reason', async (args, reason) => {
  const { code, out, err } = await new Program('start.js', args).ended
  expect(code).toBe(2)
  expect(err).toContain(reason)
  expect(err).toContain('Try --help.')
  expect(err).not.toContain('    at ')
  expect(out).toBe('')
})

test('--help tells every option and does nothing else', async () => {
  const { code, out } = await new Program('start.js', ['--help']).ended
  expect(code).toBe(0)
  for (const flag of ['--only', '--fresh', '--folder', '--pace', 'DATABASE_URL']) expect(out).toContain(flag)
})

test('--fresh is refused on somebody’s PostgreSQL', async () => {
  const environment = { DATABASE_URL: 'postgres://localhost/shop' }
  const { code, err } = await new Program('start.js', ['--fresh'], environment).ended
  expect(code).toBe(2)
  expect(err).toContain('drop the schemas belay, shop and atlas yourself')
})

test.each([
  ['postgres://ada:s3cret@127.0.0.1:1/shop', '127.0.0.1'],
  ['shop', 'shop'],
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

test('the graph as data draws itself and runs', async () => {
  const { code, out, err } = await new Program('graph-as-data.js').ended
  expect(code, err).toBe(0)
  expect(out).toContain('flowchart')
  expect(out).toContain('A climber on a wall: small.png,large.png')
})
