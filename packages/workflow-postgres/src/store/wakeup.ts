import type { WakeHint } from '@belay/workflow/adapter'
import type { Connection } from '../connection/connection.ts'

/** Called when work may have become claimable; without a hint it may be any. */
export type WakeListener = (hint?: WakeHint) => void

/** How processes tell each other that work may have become claimable. A hint: it may be missing, late or false. */
export interface Wakeup {
  onWake(listener: WakeListener): () => void
  /** Of these definitions; left out, of any. */
  wake(definitionIds?: readonly number[]): void
  /** The same for what a transaction makes claimable: once it commits, if the store can tell. Else work is found at the next tick. */
  wakeAfter?(transaction: Connection, definitionIds?: readonly number[]): Promise<void>
  close(): Promise<void>
}

/** At most one hint in this time: each notification takes a database-wide lock for a moment. */
const COALESCE_MS = 5

/**
 * Calls `send` once for any number of calls in a short time, with the definitions that any of them named, or with none if one named none; the
 * first of them at once. The next is sent when the one before has ended.
 */
export function coalesced(send: (hint: WakeHint | undefined) => Promise<unknown> | undefined): {
  (definitionIds?: readonly number[]): void
  stop(): void
} {
  let timer: ReturnType<typeof setTimeout> | undefined
  let isSending = false
  let owed: Set<number> | 'any' | null = null
  const fire = () => {
    if (owed === null || timer !== undefined || isSending) return
    const hint = owed === 'any' ? undefined : { definitionIds: [...owed], draw: Math.random() }
    owed = null
    timer = setTimeout(() => {
      timer = undefined
      fire()
    }, COALESCE_MS)
    // The hint that is owed must not keep a process alive; browsers' timers are numbers.
    if (typeof timer === 'object') timer.unref?.()
    const sending = send(hint)
    if (sending === undefined) return
    isSending = true
    void sending.then(ended, ended)
  }
  const ended = () => {
    isSending = false
    fire()
  }
  const call = (definitionIds?: readonly number[]) => {
    if (definitionIds?.length === 0) return
    if (definitionIds === undefined || owed === 'any') owed = 'any'
    else owed = new Set([...(owed ?? []), ...definitionIds])
    fire()
  }
  return Object.assign(call, {
    stop() {
      if (timer !== undefined) clearTimeout(timer)
      timer = undefined
      owed = null
    },
  })
}

/** For a store that lives in this process: `everyone` is shared by the adapters on it. */
export function localWakeup(everyone: Set<WakeListener>): Wakeup {
  const own = new Set<WakeListener>()
  const send = coalesced((hint) => {
    for (const listener of everyone) listener(hint)
    return undefined
  })
  const forget = (listener: WakeListener) => {
    own.delete(listener)
    everyone.delete(listener)
  }
  return {
    onWake(listener) {
      // A function of its own, so that one listener given twice is two.
      const call: WakeListener = (hint) => listener(hint)
      own.add(call)
      everyone.add(call)
      return () => forget(call)
    },
    wake: send,
    async close() {
      send.stop()
      for (const listener of own) forget(listener)
    },
  }
}
