import { describe, expect, it } from 'vitest'
import { BelayError, StoreContendedError, StoreUnavailableError } from '../src/errors.ts'

describe('the remedy of an error', () => {
  it('ends the message, and stands apart from the first part of it', () => {
    const error = new BelayError('schema_missing', 'There are no tables.', { remedy: 'Migrate first.' })

    expect(error.message).toBe('There are no tables. Migrate first.')
    expect(error).toMatchObject({ what: 'There are no tables.', remedy: 'Migrate first.' })
  })

  it.each([undefined, ''])(
    'is undefined if there is none, and the message is the first part alone',
    (remedy) => {
      const error = new BelayError('unknown_run', 'There is no run.', { remedy })

      expect(error).toMatchObject({
        message: 'There is no run.',
        what: 'There is no run.',
        remedy: undefined,
      })
    },
  )

  it('is taken by the errors of the store', () => {
    const errors = [
      new StoreUnavailableError('It is down.', { remedy: 'Start it.', answered: true }),
      new StoreContendedError('A row is held.', { remedy: 'Start it.' }),
    ]

    expect(errors.map(({ remedy }) => remedy)).toEqual(['Start it.', 'Start it.'])
    expect(errors[0]).toMatchObject({ message: 'It is down. Start it.', answered: true })
  })

  it('stands apart from what was refused, which a surface tells after a subject of its own', () => {
    const refusal = 'cannot be paused: it has completed.'

    const error = new BelayError('action_refused', `Run 1 ${refusal}`, { refusal, remedy: 'Start another.' })

    expect(error).toMatchObject({ refusal, message: `Run 1 ${refusal} Start another.` })
    expect(new BelayError('run_lost', 'It is gone.').refusal).toBeUndefined()
  })

  it('is left alone by a caller that changes the message', () => {
    const error = new BelayError('run_lost', 'It is gone.', { remedy: 'Start it again.' })

    error.message = `Order 7: ${error.message} (logged)`

    expect(error.what).toBe('Order 7: It is gone. Start it again. (logged)')
  })

  it('never makes the constructor throw', () => {
    const hostile = {
      get remedy(): string {
        throw new Error('hostile')
      },
    }

    expect(new BelayError('run_lost', 'It is gone.', hostile).remedy).toBeUndefined()
    expect(new BelayError('run_lost', 'It is gone.', { remedy: 7 as never }).message).toBe('It is gone.')
  })
})
