// Generated from `ui` by its build. This is the page of a checkout in which nobody ran it.

/** By path: the type, and the content, as text or, of what is no text, in base64. */
export const ASSETS: Readonly<
  Record<string, { readonly type: string; readonly text?: string; readonly base64?: string }>
> = {
  'index.html': {
    type: 'text/html; charset=utf-8',
    text: '<!doctype html><html lang="en"><head><meta charset="utf-8"><base href="__BASE__"><title>Belay</title></head><body><p>The page was not built.</p></body></html>',
  },
}
