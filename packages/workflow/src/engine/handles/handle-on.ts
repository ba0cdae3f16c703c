import type { OutputsAt, SentTo } from '../runs/run-reference.ts'
import type { KeyedRunHandle, RunHandle } from './run-handle.ts'

/** The handle on the run that a reference names. */
export type HandleOn<Reference> = Reference extends string | { readonly id: string }
  ? RunHandle<OutputsAt<Reference>, SentTo<Reference>>
  : KeyedRunHandle<OutputsAt<Reference>, SentTo<Reference>>
