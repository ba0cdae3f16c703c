import type { ServerResponse } from 'node:http'
import { BelayError } from '@belay/workflow'
import { type ArgumentsHost, Catch } from '@nestjs/common'
import { BaseExceptionFilter } from '@nestjs/core'
import { statusOf } from '../web.ts'

/** Answers errors of Belay with their status, and leaves all others to Nest. It catches every error, because `is()` also knows the errors of another copy of the package. */
@Catch()
export class BelayErrorFilter extends BaseExceptionFilter {
  override catch(error: unknown, host: ArgumentsHost): void {
    if (!BelayError.is(error)) return super.catch(error, host)
    const response = host.switchToHttp().getResponse<ServerResponse>()
    response.writeHead(statusOf(error), { 'content-type': 'application/json' })
    response.end(JSON.stringify({ error: error.message }))
  }
}
