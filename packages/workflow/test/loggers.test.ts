import { afterEach, describe, expect, it, vi } from 'vitest'
import { jsonLogger, type LogFields, pinoLogger } from '../src/index.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

function written(level: 'debug' | 'info' | 'warn' | 'error'): readonly unknown[] {
  return vi.mocked(console[level]).mock.calls.map(([line]) => JSON.parse(String(line)))
}

describe('jsonLogger()', () => {
  it('writes one line for each message, with stacks and causes of errors', () => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const error = Object.assign(new Error('outer', { cause: new TypeError('inner') }), { code: 'E1' })

    jsonLogger().error('It failed.', { step: 'pay', error, bytes: 10n })

    expect(written('error')).toEqual([
      {
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
        level: 'error',
        message: 'It failed.',
        step: 'pay',
        bytes: '10',
        error: {
          name: 'Error',
          message: 'outer',
          code: 'E1',
          stack: expect.stringContaining('loggers.test.ts'),
          cause: expect.objectContaining({ name: 'TypeError', message: 'inner' }),
        },
      },
    ])
  })

  it('leaves out what is below its level', () => {
    for (const level of ['debug', 'info', 'warn'] as const)
      vi.spyOn(console, level).mockImplementation(() => {})
    const log = jsonLogger({ level: 'warn' })

    log.debug('1')
    log.info('2')
    log.warn('3')

    expect([written('debug'), written('info')]).toEqual([[], []])
    expect(written('warn')).toMatchObject([{ message: '3' }])
  })

  it('writes the message alone if a field has no JSON form', () => {
    vi.spyOn(console, 'info').mockImplementation(() => {})
    const circle: Record<string, unknown> = {}
    circle['self'] = circle

    jsonLogger().info('Odd.', { circle })

    expect(written('info')).toEqual([{ time: expect.any(String), level: 'info', message: 'Odd.' }])
  })

  it('refuses a level that there is not', () => {
    // @ts-expect-error Not a level.
    expect(() => jsonLogger({ level: 'warning' })).toThrow(/jsonLogger\(\): level must be/)
  })
})

describe('pinoLogger()', () => {
  it('gives pino the fields first, and the error as err', () => {
    const calls: unknown[] = []
    const method = (fields: object, message: string) => void calls.push([fields, message])
    const log = pinoLogger({ debug: method, info: method, warn: method, error: method })
    const error = new Error('no')
    const fields: LogFields = { step: 'pay', error }

    log.error('It failed.', fields)
    log.info('Started.')

    expect(calls).toEqual([
      [{ step: 'pay', err: error }, 'It failed.'],
      [{}, 'Started.'],
    ])
  })
})
