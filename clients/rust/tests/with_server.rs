//! What a real server (`CONDENSE_TARGET`) and a bad connection to it do to a client. See `check`.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use condense_client::v1::{PruneOn, SessionConfig};
use condense_client::{Client, ErrorKind, FlushOptions, Format, RetryPolicy, Session, Shown};
use serde::Serialize;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

fn server() -> String {
    std::env::var("CONDENSE_TARGET").expect("the address of a server in CONDENSE_TARGET: run `check`")
}

fn session(client: &Client, id: &str) -> Session {
    let config = SessionConfig { prune_on: Some(PruneOn::OnDemand.into()), ..Default::default() };
    client.session(format!("tests-of-rust/{id}"), Format::OpenAiChat).with_config(config)
}

async fn fresh(client: &Client, id: &str) -> Session {
    let session = session(client, id);
    session.delete().await.expect("a server");
    session
}

fn turn(number: usize, content: &str) -> [Value; 2] {
    let call = json!({"id": format!("c{number}"), "type": "function", "function": {"name": "run", "arguments": "{}"}});
    [
        json!({"role": "assistant", "content": null, "tool_calls": [call]}),
        json!({"role": "tool", "tool_call_id": format!("c{number}"), "content": content}),
    ]
}

fn history(turns: usize, chars: usize) -> Vec<Value> {
    let mut messages = vec![json!({"role": "user", "content": "Go."})];
    for number in 0..turns {
        let line = format!("line of {number} with some text 🙂\n");
        messages.extend(turn(number, &line.repeat(chars / line.len() + 1)));
    }
    messages.push(json!({"role": "assistant", "content": "Done."}));
    messages
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_of_many_tasks_on_one_session_may_overlap() {
    let client = Client::connect(server()).await.expect("a server");
    let session = fresh(&client, "overlap").await;
    let messages = Arc::new(history(30, 2000));
    let tasks: Vec<_> = (0..24)
        .map(|number| {
            let (session, messages) = (session.clone(), messages.clone());
            tokio::spawn(async move {
                let own = &messages[..messages.len() - number % 5];
                session.prune(own).await.map(|view| view.messages.len() == own.len())
            })
        })
        .collect();
    for task in tasks {
        assert!(task.await.expect("no panic").expect("heals by itself"));
    }
    let view = session.prune(&messages).await.expect("heals by itself");
    assert_eq!(view.messages.len(), messages.len());
}

#[tokio::test]
async fn dropped_futures_leave_the_session_as_it_was() {
    let client = Client::connect(server()).await.expect("a server");
    let session = fresh(&client, "dropped").await;
    let messages = history(200, 20_000);
    for micros in [0, 200, 1_000, 5_000, 20_000, 60_000] {
        let _ = tokio::time::timeout(Duration::from_micros(micros), session.prune(&messages)).await;
        let _ = tokio::time::timeout(Duration::from_micros(micros), session.flush(&messages)).await;
    }
    let outcome = session.flush(&messages).await.expect("a stream").wait().await.expect("an end");
    assert!(outcome.counts.is_some());
    let view = session.prune(&messages).await.expect("a view");
    assert!(view.pruned());
    session.delete().await.expect("a server");
}

#[tokio::test]
async fn elements_are_anything_that_serializes() {
    #[derive(Serialize)]
    struct Message<'a> {
        role: &'a str,
        content: &'a str,
    }
    let client = Client::connect(server()).await.expect("a server");
    let session = fresh(&client, "typed").await;
    let messages = [Message { role: "user", content: "Go." }, Message { role: "assistant", content: "Done." }];
    let view = session.prune(&messages).await.expect("a view");
    assert!(matches!(&view.messages[0], Shown::Own(own) if std::ptr::eq(*own, &messages[0])));
    let expected = json!([{"role": "user", "content": "Go."}, {"role": "assistant", "content": "Done."}]);
    assert_eq!(serde_json::to_value(&view.messages).expect("JSON"), expected);
    assert_eq!(Value::from(view.to_values().expect("JSON")), expected);
}

#[tokio::test]
async fn no_server_and_no_time_are_told_apart() {
    let nobody = Client::connect("127.0.0.1:1").await.expect_err("there is no server");
    assert_eq!(nobody.kind(), ErrorKind::Unavailable);
    let nowhere = Client::connect("no address").await.expect_err("it is no address");
    assert_eq!((nowhere.kind(), nowhere.code()), (ErrorKind::RequestInvalid, None));

    let client = Client::builder(server()).call_timeout(Duration::ZERO).connect().await.expect("a server");
    let error = session(&client, "no-time").diagnostics().await.expect_err("no time");
    assert_eq!(error.kind(), ErrorKind::DeadlineExceeded);
    let options = FlushOptions { timeout: Some(Duration::ZERO), ..Default::default() };
    let error = session(&client, "no-time").flush_with(&history(2, 2000), options).await.expect_err("no time");
    assert_eq!(error.kind(), ErrorKind::DeadlineExceeded);
}

#[test]
fn a_runtime_that_ends_takes_its_streams_along() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let (session, stream) = runtime.block_on(async {
        let client = Client::connect(server()).await.expect("a server");
        let session = fresh(&client, "runtime").await;
        let stream = session.flush(&history(50, 3000)).await.expect("a stream");
        (session, stream)
    });
    runtime.shutdown_timeout(Duration::from_secs(5));
    drop(stream);
    let again = tokio::runtime::Runtime::new().expect("a runtime");
    let error = again.block_on(session.diagnostics()).expect_err("its connection is gone with the runtime");
    assert!(error.code().is_some(), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_broken_connection_cuts_off_is_read_on() {
    let client = Client::connect(server()).await.expect("a server");
    let session = fresh(&client, "broken").await;
    let mut messages = history(1, 5_000_000);
    let original = messages[2]["content"].as_str().expect("a text").to_owned();
    session.flush(&messages).await.expect("a stream").wait().await.expect("an end");
    messages.push(json!({"role": "user", "content": "More?"}));

    let proxy = Proxy::start(1_300_000).await; // one chunk passes, a second one does not
    let through = Client::builder(&proxy.address).connect_lazy().expect("an address");
    let text = session_through(&through, "broken").read_result("t1").read_to_end().await.expect("the original");
    assert!(text == original, "{} of {} bytes", text.len(), original.len());
    assert!(proxy.connections.load(Ordering::SeqCst) >= 4, "the connection was cut");

    let once = Client::builder(&proxy.address).retry(RetryPolicy::NEVER).connect_lazy().expect("an address");
    let big = history(40, 50_000);
    let error = session_through(&once, "uploads").prune(&big).await.expect_err("cut in the middle");
    assert!(error.kind().is_unavailable(), "{error:?}");
    assert_ne!(error.kind(), ErrorKind::DeadlineExceeded);
    let direct = fresh(&client, "uploads").await;
    assert_eq!(direct.prune(&big).await.expect("a view").messages.len(), big.len());
    session.delete().await.expect("a server");
}

fn session_through(client: &Client, id: &str) -> Session {
    session(client, id)
}

/// A way to the server that breaks after so many bytes of either direction, and can be gone again.
struct Proxy {
    address: String,
    connections: Arc<AtomicUsize>,
}

impl Proxy {
    async fn start(bytes: usize) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address").to_string();
        let connections = Arc::new(AtomicUsize::new(0));
        let count = connections.clone();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                count.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(async move {
                    let Ok(upstream) = TcpStream::connect(server()).await else { return };
                    let (from_client, to_client) = client.into_split();
                    let (from_server, to_server) = upstream.into_split();
                    tokio::select! {
                        () = forward(from_client, to_server, bytes) => {}
                        () = forward(from_server, to_client, bytes) => {}
                    }
                });
            }
        });
        Self { address, connections }
    }
}

async fn forward(mut from: impl AsyncReadExt + Unpin, mut to: impl AsyncWriteExt + Unpin, mut left: usize) {
    let mut buffer = vec![0; 16 * 1024];
    while left > 0 {
        let wanted = left.min(buffer.len());
        match from.read(&mut buffer[..wanted]).await {
            Ok(count) if count > 0 && to.write_all(&buffer[..count]).await.is_ok() => left -= count,
            _ => return,
        }
    }
}
