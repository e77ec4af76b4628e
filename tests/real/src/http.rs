//! As much of HTTP/1.1 as the clients of model APIs use, on the standard library's sockets: heads, bodies of a stated
//! length or in chunks, connections that are kept.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;

/// The most bytes of one body: requests hold whole conversations.
const LARGEST: u64 = 64 << 20;

/// One request.
pub struct Request {
    pub method: String,
    /// Path and query as sent.
    pub path: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Request {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

fn bad(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

fn line(from: &mut BufReader<TcpStream>) -> io::Result<String> {
    let mut text = String::new();
    from.take(65_536).read_line(&mut text)?;
    Ok(text.trim_end().to_owned())
}

/// The next request of a connection; `None` at its end.
///
/// # Errors
/// What the socket says, and a head or body that is not HTTP.
pub fn read(from: &mut BufReader<TcpStream>) -> io::Result<Option<Request>> {
    let first = line(from)?;
    if first.is_empty() {
        return Ok(None);
    }
    let mut words = first.split(' ');
    let (Some(method), Some(path)) = (words.next(), words.next()) else { return Err(bad("no request line")) };
    let mut request = Request { method: method.into(), path: path.into(), headers: Vec::new(), body: Vec::new() };
    loop {
        let text = line(from)?;
        if text.is_empty() {
            break;
        }
        let (name, value) = text.split_once(':').ok_or_else(|| bad("no header"))?;
        request.headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    if request.header("expect").is_some() {
        from.get_mut().write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
    }
    let chunked = request.header("transfer-encoding").is_some_and(|value| value.eq_ignore_ascii_case("chunked"));
    let mut body = Vec::new();
    if chunked {
        loop {
            let head = line(from)?;
            let size = head.split(';').next().unwrap_or_default();
            let size = u64::from_str_radix(size, 16).map_err(|_| bad("no chunk size"))?;
            if size > LARGEST {
                return Err(bad("a chunk too large"));
            }
            from.take(size).read_to_end(&mut body)?;
            line(from)?;
            if size == 0 {
                break;
            }
        }
    } else if let Some(length) = request.header("content-length") {
        let length: u64 = length.parse().map_err(|_| bad("no length"))?;
        if length > LARGEST {
            return Err(bad("a body too large"));
        }
        from.take(length).read_to_end(&mut body)?;
    }
    request.body = body;
    Ok(Some(request))
}

/// A whole answer of JSON; the connection stays.
///
/// # Errors
/// What the socket says.
pub fn answer(to: &mut TcpStream, status: u16, json: &str, with_body: bool) -> io::Result<()> {
    let head = format!(
        "HTTP/1.1 {status} Stub\r\ncontent-type: application/json\r\ncontent-length: {}\r\nrequest-id: req_stub\r\n\r\n",
        json.len()
    );
    to.write_all(head.as_bytes())?;
    if with_body {
        to.write_all(json.as_bytes())?;
    }
    to.flush()
}

/// The head of a stream of events, which ends with the connection.
///
/// # Errors
/// What the socket says.
pub fn stream(to: &mut TcpStream) -> io::Result<()> {
    to.write_all(
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-cache\r\nrequest-id: req_stub\r\n\
          connection: close\r\n\r\n",
    )?;
    to.flush()
}
