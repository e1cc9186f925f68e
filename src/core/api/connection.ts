import type { ErrorKind } from '../errors.ts';

/** What a call needs. */
export type ConnectionPart =
  'address' | 'network' | 'proxy' | 'certificate' | 'service' | 'token' | 'organization';

/** The part that a failed call shows to be wrong. Undefined where the failure says nothing of the connection. */
export function failedPart(kind: ErrorKind): ConnectionPart | undefined {
  switch (kind) {
    case 'insecureUrl':
    case 'badSetting':
      return 'address';
    case 'unsent':
    case 'connectionLost':
    case 'timeout':
      return 'network';
    case 'proxy':
    case 'intercepted':
      return 'proxy';
    case 'tls':
      return 'certificate';
    case 'badResponse':
    case 'redirected':
    case 'notFound': // also the answer to a wrong path of the base URL, before the token is checked
    case 'serverError':
    case 'rateLimited':
    case 'rejected':
    case 'conflict':
    case 'tooLarge':
      return 'service';
    case 'unauthorized':
    case 'notSignedIn':
    case 'secretStorage':
    case 'tokenCommand':
      return 'token';
    case 'forbidden':
      return 'organization';
    default:
      return undefined;
  }
}
