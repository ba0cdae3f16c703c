/** What a viewer may do. Read without payloads needs nothing but a session. */
export type Capability =
  | 'payloads.read'
  | 'runs.cancel'
  | 'runs.pause'
  | 'runs.retry'
  | 'steps.retry'
  | 'steps.skip'
  | 'undo.retry'
  | 'undo.skip'
  | 'signals.send'
  | 'approvals.decide'
  | 'runs.priority'
