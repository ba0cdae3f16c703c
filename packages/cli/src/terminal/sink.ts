/** Where text goes: stdout, stderr, or what a test keeps. */
export interface Sink {
  write(text: string): boolean
  readonly isTTY?: boolean
  readonly columns?: number
  readonly rows?: number
  on?(event: 'resize', listener: () => void): unknown
  off?(event: 'resize', listener: () => void): unknown
}
