import type { OutputsAt, SentTo } from '../runs/run-reference.ts'
import type { KeyedRunHandle, RunHandle } from './run-handle.ts'

/** The type of handle that a reference gives. */
export type HandleOn<Reference> = Reference extends string | { readonly id: string }
  ? RunHandle<OutputsAt<Reference>, SentTo<Reference>>
  : KeyedRunHandle<OutputsAt<Reference>, SentTo<Reference>>
