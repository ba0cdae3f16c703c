import { useSyncExternalStore } from 'preact/compat'

/** A value that all components see change at once. */
export interface Cell<T> {
  readonly get: () => T
  readonly set: (value: T) => void
  readonly subscribe: (listener: () => void) => () => void
}

export function cell<T>(value: T): Cell<T> {
  const listeners = new Set<() => void>()
  let current = value
  return {
    get: () => current,
    set(next) {
      current = next
      for (const listener of listeners) listener()
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

export function useCell<T>({ get, subscribe }: Cell<T>): T {
  return useSyncExternalStore(subscribe, get)
}

/** A choice that this browser keeps. The first of the choices is the default. */
export function stored<T extends string>(name: string, choices: readonly [T, ...T[]]): Cell<T> {
  const key = `belay.${name}`
  const inner = cell(choices.find((choice) => choice === readItem(key)) ?? choices[0])
  return {
    ...inner,
    set(value) {
      writeItem(key, value)
      inner.set(value)
    },
  }
}

/** What this browser keeps as JSON. `decode` is given whatever stands there, and undefined if nothing does. */
export function storedJson<T>(name: string, decode: (kept: unknown) => T): Cell<T> {
  const key = `belay.${name}`
  const inner = cell(decode(parsed(readItem(key))))
  return {
    ...inner,
    set(value) {
      writeItem(key, JSON.stringify(value))
      inner.set(value)
    },
  }
}

function parsed(text: string | null): unknown {
  try {
    return text === null ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}

// Storage may be switched off: the choice then lasts as long as the tab.
function readItem(key: string): string | null {
  try {
    return localStorage.getItem(key)
  } catch {
    return null
  }
}

function writeItem(key: string, value: string): void {
  try {
    localStorage.setItem(key, value)
  } catch {}
}
