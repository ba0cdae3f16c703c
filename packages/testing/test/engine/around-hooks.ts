import { type Around, define, type LogFields, type Logger } from '@belay/workflow'

export const NO_RETRY = { retry: false } as const

/** A hook that notes where it is, and what it saw of the handler's end. */
export function noting(notes: unknown[], name = 'hook'): Around {
  return async ({ step, direction, attempt }, next) => {
    notes.push(`${name} before ${direction} ${step} ${attempt}`)
    try {
      const output: unknown = await next()
      notes.push(`${name} after ${step}: ${output}`)
    } catch (error) {
      notes.push(error)
      throw error
    }
  }
}

/** A log that keeps its errors. */
export function errorLog(): { readonly errors: LogFields[]; readonly logger: Logger } {
  const errors: LogFields[] = []
  const nothing = () => {}
  const error = (message: string, fields?: LogFields) => {
    errors.push({ message, ...fields })
  }
  return { errors, logger: { debug: nothing, info: nothing, warn: nothing, error } }
}

/** A workflow of one step, which is tried once. */
export const one = (run: () => unknown) => define('one', { version: 3 }).step('a', { ...NO_RETRY, run })
