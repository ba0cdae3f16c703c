import type { GlyphState } from '@belay/graph-view'
import type { ComponentChildren } from 'preact'
import { type ApiError, isForbidden, isNotFound } from './api.ts'
import { Glyph } from './glyph.tsx'
import { isDown } from './live.ts'
import { cell, useCell } from './stored.ts'
import { fullInstant } from './words.ts'

/** Since when the store has not answered: what is shown is of then, and actions are off. */
export const downSince = cell<number | undefined>(undefined)

interface Asked<T> {
  readonly data: T | undefined
  readonly error: Error | null
  readonly dataUpdatedAt: number
  readonly refetch: () => unknown
}

/** What was asked for, or why it is not there. An answer stays while a newer one fails. */
export function Answer<T>({
  of,
  skeleton,
  children,
}: {
  readonly of: Asked<T>
  readonly skeleton?: ComponentChildren
  readonly children: (answer: T) => ComponentChildren
}) {
  const down = useCell(downSince)
  const { data, error, dataUpdatedAt } = of
  if (isForbidden(error)) return <Forbidden error={error} />
  if (data === undefined)
    return error ? <Failed error={error} again={of.refetch} /> : (skeleton ?? <Loading />)
  return (
    <>
      {error && down === undefined && (
        <p class="line s-failed" role="status">
          <Glyph state="failed" />
          Not refreshed since <time title={fullInstant(dataUpdatedAt)}>{fullInstant(dataUpdatedAt)}</time>:{' '}
          {error.message}
        </p>
      )}
      {children(data)}
    </>
  )
}

function Loading() {
  return (
    <div class="loading" role="status" aria-label="Loading">
      {Array.from({ length: 9 }, (_, row) => (
        <i key={row} class={`bone bone-${row % 3}`} />
      ))}
    </div>
  )
}

/** A screen that has nothing but a sentence to say. */
export function Blank({
  state,
  title,
  children,
}: {
  readonly state: GlyphState
  readonly title: string
  readonly children: ComponentChildren
}) {
  return (
    <div class="blank">
      <Glyph state={state} />
      <h1>{title}</h1>
      {children}
    </div>
  )
}

export function Forbidden({ error }: { readonly error: ApiError }) {
  return error.status === 401 ? (
    <Blank state="cancelled" title="You are not signed in">
      <p>{error.message}</p>
      <p>Sign in to the application that serves this page, then load it again.</p>
    </Blank>
  ) : (
    <Blank state="cancelled" title="You may not see this">
      <p>{error.message}</p>
      <p>Ask whoever runs this application for access.</p>
    </Blank>
  )
}

function Failed({ error, again }: { readonly error: Error; readonly again: () => unknown }) {
  const title = isNotFound(error)
    ? 'There is no such run'
    : isDown(error)
      ? 'The store does not answer'
      : 'This could not be read'
  return (
    <Blank state={isNotFound(error) ? 'pending' : 'failed'} title={title}>
      <p>{error.message}</p>
      <button type="button" class="button" onClick={() => again()}>
        Try again
      </button>
    </Blank>
  )
}
