import { definitionError, listed, type Place } from '../graph/place.ts'
import { nearest, offered } from '../nearest.ts'
import { checkRecord } from './graph-record.ts'
import { shown } from './option-check.ts'

/** The handlers of a graph as data. */
export type HandlersByName = Readonly<Record<string, unknown>>

/** Refuses handlers that are not functions. */
export function checkHandlers(place: Place, handlers: unknown): void {
  checkRecord(place, 'handlers', handlers, 'functions by name')
  for (const [name, handler] of Object.entries(handlers)) {
    if (typeof handler === 'function') continue
    throw definitionError(place, `handler "${name}" is ${shown(handler)}, and must be a function.`)
  }
}

/** Finds the handler that an option names; null in a process that only starts runs. */
export function handlerNamed(lookup: {
  readonly place: Place
  readonly option: string
  readonly name: unknown
  readonly handlers: HandlersByName | undefined
}): unknown {
  const { place, option, name, handlers } = lookup
  if (typeof name !== 'string' || name === '') {
    throw definitionError(place, `${option} is ${shown(name)}, and must be the name of a handler.`)
  }
  if (handlers === undefined) return null
  // Own properties only: a step must not find Object.prototype.toString.
  const handler = Object.hasOwn(handlers, name) ? handlers[name] : undefined
  if (handler !== undefined) return handler
  const names = Object.keys(handlers)
  const suggestion = nearest(name, names)
  throw definitionError(
    place,
    `${option} is ${shown(name)}, and must be the name of a handler.${offered(suggestion)} Handlers: ${listed(names) || 'none'}.`,
    { kind: 'unknown_handler', name, suggestion },
  )
}
