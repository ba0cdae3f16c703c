import { type AttributeValue, SpanStatusCode } from '@opentelemetry/api'

/** What a tree needs of a span; the same for one of the SDK and for one that another process wrote. */
export interface TreeSpan {
  readonly name: string
  readonly traceId: string
  readonly spanId: string
  readonly parentId: string | undefined
  readonly startMs: number
  readonly endMs: number
  readonly status: SpanStatusCode
  readonly attributes: Readonly<Record<string, AttributeValue | undefined>>
  readonly links: readonly { readonly traceId: string; readonly spanId: string; readonly link: unknown }[]
}

/**
 * The spans of one trace as lines, each below its parent, in the order of their begin, the longest first: name, attempt, what went wrong, and links. Throws for a second span with an id, for
 * a second root, and for a span without its parent.
 */
export function treeOf(spans: readonly TreeSpan[]): readonly string[] {
  const byId = new Map(spans.map((span) => [span.spanId, span]))
  if (byId.size !== spans.length) throw new Error(`Two spans have one id: ${namesOf(spans)}`)
  const orphans = spans.filter(({ parentId }) => parentId !== undefined && !byId.has(parentId))
  if (orphans.length > 0) throw new Error(`Spans without their parent: ${namesOf(orphans)}`)
  const roots = spans.filter(({ parentId }) => parentId === undefined)
  if (roots.length !== 1) throw new Error(`Roots: ${namesOf(roots)}`)
  const below = (span: TreeSpan, indent: string): readonly string[] => [
    `${indent}${lineOf(span, byId)}`,
    ...spans
      .filter(({ parentId }) => parentId === span.spanId)
      .sort((one, other) => one.startMs - other.startMs || other.endMs - one.endMs)
      .flatMap((child) => below(child, `${indent}  `)),
  ]
  return below(roots[0]!, '')
}

function lineOf(span: TreeSpan, byId: ReadonlyMap<string, TreeSpan>): string {
  const { attributes } = span
  const attempt = attributes['belay.attempt']
  const error = attributes['error.type']
  const links = span.links.map(({ spanId, link }) => ` → ${link} ${byId.get(spanId)?.name ?? 'elsewhere'}`)
  return [
    span.name,
    attempt === undefined ? '' : ` ${attempt}`,
    attributes['belay.attempt.lost'] === true ? ' lost' : '',
    span.status === SpanStatusCode.ERROR ? ` failed: ${error}` : '',
    ...links,
  ].join('')
}

function namesOf(spans: readonly TreeSpan[]): string {
  return spans.map(({ name, spanId, parentId }) => `${name} ${spanId} below ${parentId}`).join(', ')
}
