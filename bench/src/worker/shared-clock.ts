/** Milliseconds on a clock that is the same in all processes of this machine. */
export function sharedNow(): number {
  return Number(process.hrtime.bigint()) / 1e6
}
