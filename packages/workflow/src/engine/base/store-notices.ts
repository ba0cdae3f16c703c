import type { Adapter, StoreNotice } from '../../adapter/index.ts'
import type { Logger } from '../../logger.ts'
import type { EventHub } from './events.ts'

/** Forwards the adapter's notices to the log and to listeners. Returns a function that stops this. */
export function followNotices(adapter: Adapter, parts: { log: Logger; events: EventHub }): () => void {
  const { log, events } = parts
  const tell = ({ level, code, message, error }: StoreNotice) => {
    log[level](message, error === undefined ? { code } : { code, error })
    events.emit('store.notice', { level, code, message })
  }
  return adapter.onNotice?.(tell) ?? (() => {})
}
